// The messages of a conversation: a stretch of what is loaded is drawn, and more comes as one scrolls.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { focusIfLost } from "../shell/focus";
import { Icon } from "../shell/Icon";
import { MessageView } from "./MessageView";
import { Welcome } from "./Welcome";
import type { ConversationState, Draft } from "./useConversation";

/** So many messages are in the page at once: what is far above and below is not. */
const DRAWN_MAX = 120;
const STEP = 30;

/** Nearer to the end than this, the view follows the answer. */
const NEAR_PX = 90;

type Props = {
  conversation: ConversationState;
  id: string;
  editing: string | null;
  setEditing: (id: string | null) => void;
  send: (draft: Draft) => void;
};

export function Messages({ conversation, id, editing, setEditing, send }: Props) {
  const { messages, status, places, hasOlder, loadOlder } = conversation;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  // The stretch that is drawn ends so many messages before the newest, and is at most DRAWN_MAX long.
  const [above, setAbove] = useState(STEP);
  const [below, setBelow] = useState(0);
  const [atEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const top = useRef(0);
  const loading = useRef(false);
  const returns = useRef(0);
  const held = useRef<{ node: HTMLElement; offset: number } | null>(null);
  const busy = status === "streaming" || status === "submitted";

  const end = messages.length - below;
  const begin = Math.max(0, Math.min(end - STEP, messages.length - above));
  const drawn = messages.slice(begin, end);
  const mayGrow = begin > 0 || hasOlder;

  const toNewest = useCallback(() => {
    returns.current += 1;
    follows.current = true;
    setAtEnd(true);
    setBelow(0);
    setAbove(STEP);
    const node = scroller.current;
    if (node) requestAnimationFrame(() => (node.scrollTop = node.scrollHeight));
  }, []);

  const grow = useCallback(async () => {
    if (loading.current || !mayGrow) return;
    loading.current = true;
    const visit = returns.current;
    try {
      if (begin < STEP && hasOlder) await loadOlder();
      // Who has gone back to the newest meanwhile is not taken up again.
      if (visit !== returns.current) return;
      const [outer, first] = [scroller.current, content.current?.querySelector<HTMLElement>(".message")];
      if (outer && outer.scrollTop < 1 && first) held.current = { node: first, offset: first.offsetTop };
      setAbove((was) => was + STEP);
      setBelow((was) => Math.max(was, above + STEP - DRAWN_MAX));
    } catch {
      // The next scroll asks again.
    } finally {
      loading.current = false;
    }
  }, [mayGrow, begin, hasOlder, loadOlder, above]);

  const onScroll = () => {
    const node = scroller.current;
    if (!node) return;
    const left = node.scrollHeight - node.scrollTop - node.clientHeight;
    const near = left < NEAR_PX && below === 0;
    // The end runs away from a view that follows: only who scrolls up himself has left it.
    if (near) follows.current = true;
    else if (node.scrollTop < top.current) follows.current = false;
    top.current = node.scrollTop;
    setAtEnd(near || follows.current);
    if (node.scrollTop < node.clientHeight) void grow();
    if (left < node.clientHeight && below > 0) {
      setBelow((was) => Math.max(0, was - STEP));
      setAbove((was) => Math.max(DRAWN_MAX, was - STEP));
    }
  };

  // Browsers keep what one reads in its place when something comes in above it, but not at the very top.
  useLayoutEffect(() => {
    const [outer, was] = [scroller.current, held.current];
    held.current = null;
    if (outer && was?.node.isConnected) outer.scrollTop += was.node.offsetTop - was.offset;
  }, [drawn[0]?.id]);

  // What the user sends, and the first picture of a conversation, is at the end.
  const newestOfUser = messages.findLast((message) => message.role === "user")?.id;
  useLayoutEffect(toNewest, [id, newestOfUser, toNewest]);

  // Where the view follows, it does so with every change of height, be it a word, a picture or a fold.
  useEffect(() => {
    const [outer, inner] = [scroller.current, content.current];
    if (!outer || !inner) return;
    const observer = new ResizeObserver(() => {
      if (follows.current) outer.scrollTop = outer.scrollHeight;
    });
    observer.observe(inner);
    observer.observe(outer);
    return () => observer.disconnect();
  }, []);

  // An editor that is left, a form that is answered: who used keys goes on writing. A phone would show its keyboard.
  const focused = useRef<Element | null>(null);
  useEffect(() => {
    if (!focused.current || focused.current.isConnected) return;
    focused.current = null;
    if (window.matchMedia("(hover: hover)").matches) focusIfLost(document.getElementById("message"));
  });

  if (messages.length === 0 && !busy) return <Welcome onPick={(text) => send({ text, files: [] })} />;
  const newest = messages.at(-1);
  return (
    <div className="messages-frame" onFocus={(event) => (focused.current = event.target)}>
      <div className="messages" ref={scroller} onScroll={onScroll} tabIndex={0} role="region" aria-label="Messages">
        <div className="messages-content" ref={content} role="log" aria-live="off" aria-busy={busy}>
          {mayGrow && (
            <p className="older" role="status">
              <button type="button" className="quiet-button" onClick={() => void grow()}>
                Earlier messages
              </button>
            </p>
          )}
          {drawn.map((message) => (
            <MessageView
              key={message.id}
              message={message}
              place={places.get(message.id)}
              conversationId={id}
              live={busy && message === newest && message.role === "assistant"}
              newest={message === newest}
              busy={busy}
              editing={editing === message.id}
              setEditing={setEditing}
              does={conversation.does}
            />
          ))}
          {busy && newest?.role === "user" && (
            <div className="waiting" role="status" aria-label="Waiting for the answer">
              <span />
              <span />
              <span />
            </div>
          )}
        </div>
      </div>
      {!atEnd && (
        <button type="button" className="to-newest" aria-label="To the newest message" title="To the newest message" onClick={toNewest}>
          <Icon name="newest" />
        </button>
      )}
    </div>
  );
}
