// One conversation: the chat of the AI SDK, and beside it what the server knows of places, branches and the live turn.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, generateId, isToolUIPart, type FileUIPart, type UIMessage } from "ai";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import {
  API,
  Problem,
  address,
  chatPath,
  chooseBranch,
  deleteMessage,
  problemOf,
  readConversation,
  stopTurn,
  type ConversationPage,
  type Place,
} from "../wire/api";
import { rejoining, type Connection } from "../wire/rejoin";
import { announce, listen } from "../wire/tabs";
import type { Actions } from "../parts/actions";
import type { ToolPart } from "../parts/ToolCall";

/** So many messages come at once: more than a screen holds, less than a person notices waiting for. */
export const PAGE_MESSAGES = 30;

/** The page is drawn this often while an answer streams: as smooth to the eye as each chunk, and much cheaper. */
const THROTTLE_MS = 40;

const placesOf = (page: ConversationPage) => new Map(page.places.map((place) => [place.id, place]));

/** The messages that we have, followed by the page's; messages that say the same stay the same values. */
export function joined(had: UIMessage[], page: ConversationPage): UIMessage[] {
  const first = page.messages[0];
  const begin = first ? had.findIndex((message) => message.id === first.id) : -1;
  const known = new Map(had.map((message) => [message.id, message]));
  const fresh = page.messages.map((message) => {
    const old = known.get(message.id);
    return old && JSON.stringify(old) === JSON.stringify(message) ? old : message;
  });
  return begin > 0 && page.before != null ? [...had.slice(0, begin), ...fresh] : fresh;
}

/** Whether everything that the newest answer asked of the client has been answered, so that it can go on. */
function answered(message: UIMessage | undefined): boolean {
  const begin = message?.parts.findLastIndex((part) => part.type === "step-start") ?? -1;
  const calls = message?.parts.slice(begin + 1).filter(isToolUIPart) ?? [];
  return calls.every((call) => call.state !== "approval-requested" && (call.state !== "input-available" || call.providerExecuted));
}

/** What went wrong, for a person. */
export function said(error: Error): string {
  if ("statusCode" in error && typeof error.statusCode === "number") {
    return problemOf(error.statusCode, "responseBody" in error ? String(error.responseBody) : "").message;
  }
  if (error instanceof TypeError) return "The server cannot be reached. Nothing is lost: try again.";
  return error.message || "Something went wrong.";
}

export type Draft = { text: string; files: FileUIPart[] };

export function useConversation(id: string, first: ConversationPage, onChanged: () => void) {
  const [places, setPlaces] = useState(() => placesOf(first));
  const [before, setBefore] = useState(first.before ?? null);
  const [connection, setConnection] = useState<Connection>("whole");
  const [stopping, setStopping] = useState(false);
  const [notice, setNotice] = useState("");
  const resumed = useRef<string | null>(null);
  const attempt = useRef<(() => Promise<void>) | null>(null);

  const transport = useMemo(
    () =>
      new DefaultChatTransport<UIMessage>({
        api: `${API}/chat`,
        fetch: rejoining(id, setConnection),
        // The server has the history: it is sent what is new, and what that answers.
        prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
          body: { id, trigger, messageId, message: messages.find((one) => one.id === messageId) ?? messages.at(-1) },
        }),
        prepareReconnectToStreamRequest: () => ({ api: address(chatPath(id, "/stream"), { turn: resumed.current }) }),
      }),
    [id],
  );
  const chat = useChat({
    id,
    messages: first.messages,
    transport,
    generateId,
    throttle: THROTTLE_MS,
    onFinish: () => {
      void sync().catch(() => undefined);
      onChanged();
      announce(id);
    },
  });
  const now = useRef(chat);
  now.current = chat;
  const busy = () => now.current.status === "streaming" || now.current.status === "submitted";

  const follow = useCallback((turnId: string) => {
    if (busy()) return;
    resumed.current = turnId;
    void now.current.resumeStream();
  }, []);

  /** Takes over what the server has, unless an answer is just coming in. */
  const sync = useCallback(async () => {
    const page = await readConversation(id, { limit: PAGE_MESSAGES }).catch((problem: unknown) => {
      if (problem instanceof Problem && problem.status === 404) return { ...first, messages: [], places: [], before: null, live: null };
      throw problem;
    });
    setPlaces((had) => new Map([...had, ...placesOf(page)]));
    if (busy()) return;
    const reaches = now.current.messages.some((message) => message.id === page.messages[0]?.id);
    if (!reaches) setBefore(page.before ?? null);
    now.current.setMessages((had) => joined(had, page));
    if (page.live) follow(page.live.turnId);
  }, [id, first, follow]);
  const syncQuietly = useCallback(() => void sync().catch(() => undefined), [sync]);

  useEffect(() => {
    if (first.live) follow(first.live.turnId);
    const woken = () => document.visibilityState === "visible" && !busy() && syncQuietly();
    const unlisten = listen(id, woken);
    document.addEventListener("visibilitychange", woken);
    window.addEventListener("online", woken);
    return () => {
      unlisten();
      document.removeEventListener("visibilitychange", woken);
      window.removeEventListener("online", woken);
    };
  }, [id, first, follow, syncQuietly]);

  // A stop that is wished before the turn has begun is asked for again when it has.
  useEffect(() => {
    if (!stopping) return;
    if (!busy()) setStopping(false);
    else stopTurn(id).catch(() => now.current.stop());
  }, [stopping, chat.status, id]);

  // Only now can another tab find the turn and follow it.
  useEffect(() => {
    if (chat.status === "streaming") announce(id);
  }, [chat.status, id]);

  const run = useCallback(
    (work: () => Promise<void>) => {
      setNotice("");
      attempt.current = work;
      void work();
      onChanged();
    },
    [onChanged],
  );

  const actions: Actions = useMemo(() => {
    // Only the newest answer asks. (The SDK's own functions take the first call of that id in the whole conversation,
    // and some models use the same ids in every answer.)
    const change = (changed: (part: ToolPart) => ToolPart) =>
      run(async () => {
        const newest = now.current.messages.at(-1);
        if (!newest) return;
        const message = { ...newest, parts: newest.parts.map((part) => (isToolUIPart(part) ? changed(part) : part)) };
        now.current.setMessages((had) => [...had.slice(0, -1), message]);
        if (answered(message)) await now.current.sendMessage();
      });
    return {
      approve: (approval, approved, reason) =>
        change((part) =>
          part.state === "approval-requested" && part.approval.id === approval
            ? { ...part, state: "approval-responded", approval: { ...part.approval, approved, reason } }
            : part,
        ),
      answer: (toolCallId, answer) =>
        change((part) => {
          if (part.state !== "input-available" || part.toolCallId !== toolCallId) return part;
          return "output" in answer
            ? { ...part, state: "output-available", output: answer.output }
            : { ...part, state: "output-error", errorText: answer.errorText };
        }),
    };
  }, [run]);

  const guarded = useCallback(
    async (work: Promise<unknown>) => {
      try {
        await work;
        await sync();
        onChanged();
        announce(id);
      } catch (problem) {
        setNotice(problem instanceof Error ? problem.message : String(problem));
      }
    },
    [id, sync, onChanged],
  );

  /** What can be done with the conversation: the same functions for as long as it is open. */
  const does = useMemo(
    () => ({
      send: ({ text, files }: Draft) => {
        const message = { id: generateId(), role: "user" as const, parts: [...files, ...(text ? [{ type: "text" as const, text }] : [])] };
        run(() => now.current.sendMessage(message));
      },
      edit: (messageId: string, text: string) => {
        const old = now.current.messages.find((message) => message.id === messageId);
        const parts = [...(old?.parts.filter((part) => part.type === "file") ?? []), { type: "text" as const, text }];
        const message = { id: generateId(), role: "user" as const, parts, messageId };
        run(() => now.current.sendMessage(message));
      },
      regenerate: (messageId: string) => run(() => now.current.regenerate({ messageId })),
      retry: async () => {
        const { error } = now.current;
        const refused = error && ("statusCode" in error || error instanceof TypeError);
        const last = now.current.messages.at(-1);
        now.current.clearError();
        await sync().catch(() => undefined);
        if (busy()) return;
        if (refused && attempt.current) run(attempt.current);
        else run(() => now.current.regenerate(last?.role === "assistant" ? { messageId: last.id } : {}));
      },
      dismiss: () => {
        now.current.clearError();
        setNotice("");
        syncQuietly();
      },
      stop: () => setStopping(true),
      branch: (messageId: string) => void guarded(chooseBranch(id, messageId)),
      remove: (messageId: string) => void guarded(deleteMessage(id, messageId)),
    }),
    [id, run, sync, syncQuietly, guarded],
  );

  return {
    messages: chat.messages,
    status: chat.status,
    error: chat.error,
    connection,
    notice,
    stopping,
    places: places as ReadonlyMap<string, Place>,
    hasOlder: before !== null,
    actions,
    does,
    loadOlder: useCallback(async () => {
      if (before === null) return;
      const page = await readConversation(id, { limit: PAGE_MESSAGES, before });
      setPlaces((had) => new Map([...placesOf(page), ...had]));
      setBefore(page.before ?? null);
      now.current.setMessages((had) => {
        const known = new Set(had.map((message) => message.id));
        return [...page.messages.filter((message) => !known.has(message.id)), ...had];
      });
    }, [id, before]),
  };
}

export type ConversationState = ReturnType<typeof useConversation>;
export type Does = ConversationState["does"];
