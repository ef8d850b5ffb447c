// Tabs of one browser tell each other that a conversation has changed.
const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("rejoinder");

/** Tells the other tabs. */
export function announce(conversation: string): void {
  channel?.postMessage(conversation);
}

/** Hears of one conversation, or of all. */
export function listen(conversation: string | null, heard: () => void): () => void {
  const listener = (event: MessageEvent) => {
    if (conversation === null || event.data === conversation) heard();
  };
  channel?.addEventListener("message", listener);
  return () => channel?.removeEventListener("message", listener);
}
