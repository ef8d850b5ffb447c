// The chat: the conversations at the side, one of them in the middle.
import { generateId } from "ai";
import { useCallback, useEffect, useState } from "react";
import { Frame } from "../shell/Frame";
import { addressOf, go } from "../shell/location";
import { Conversation } from "./Conversation";
import { Sidebar } from "./Sidebar";

export function ChatPage({ query }: { query: URLSearchParams }) {
  const asked = query.get("chat");
  // A new conversation has its id before it has an address.
  const [draft, setDraft] = useState(() => generateId());
  const [begun, setBegun] = useState<string | null>(null);
  const [version, setVersion] = useState(0);
  const [open, setOpen] = useState(false);
  const id = asked ?? draft;
  const onChanged = useCallback(() => setVersion((count) => count + 1), []);

  const begin = useCallback(() => {
    if (asked) return;
    setBegun(draft);
    go(addressOf("chat", { chat: draft }), { replace: true });
  }, [asked, draft]);

  const fresh = useCallback(() => {
    setDraft(generateId());
    setOpen(false);
    go(addressOf("chat"));
  }, []);

  useEffect(() => {
    const another = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || !event.shiftKey || event.key.toLowerCase() !== "o") return;
      event.preventDefault();
      fresh();
    };
    window.addEventListener("keydown", another);
    return () => window.removeEventListener("keydown", another);
  }, [fresh]);

  return (
    <Frame
      page="chat"
      open={open}
      setOpen={setOpen}
      side={
        <Sidebar
          current={id}
          version={version}
          onNew={fresh}
          onChanged={onChanged}
          onDeleted={(gone) => (gone === id ? fresh() : undefined, onChanged())}
          onGo={() => setOpen(false)}
        />
      }
    >
      <Conversation key={id} id={id} draft={!asked || asked === begun} onChanged={onChanged} onBegin={begin} />
    </Frame>
  );
}
