// A conversation on the screen: loaded first, then live.
import { useCallback, useEffect, useRef, useState } from "react";
import { ActionsContext } from "../parts/actions";
import { Icon } from "../shell/Icon";
import { Problem, readConversation, type ConversationPage } from "../wire/api";
import { Composer } from "./Composer";
import { Messages } from "./Messages";
import { PAGE_MESSAGES, said, useConversation, type Draft } from "./useConversation";

type Props = { id: string; draft: boolean; onChanged: () => void; onBegin: () => void };

const empty = (id: string): ConversationPage => ({ id, createdAt: "", updatedAt: "", messages: [], places: [] });

export function Conversation({ id, draft, onChanged, onBegin }: Props) {
  const [page, setPage] = useState<ConversationPage | null>(() => (draft ? empty(id) : null));
  const [problem, setProblem] = useState<Error | null>(null);
  const load = useCallback(() => {
    setProblem(null);
    const leaving = new AbortController();
    readConversation(id, { limit: PAGE_MESSAGES }, leaving.signal).then(setPage, (why: unknown) => {
      if (!leaving.signal.aborted) setProblem(why as Error);
    });
    return () => leaving.abort();
  }, [id]);
  // What was a draft becomes stored by its first message, and is not loaded over its own beginning.
  const wasDraft = useRef(draft);
  useEffect(() => (wasDraft.current ? undefined : load()), [load]);

  if (problem) {
    const gone = problem instanceof Problem && problem.status === 404;
    return (
      <div className="centre">
        <Icon name="warning" size={28} />
        <h2>{gone ? "This conversation is not here" : "It could not be loaded"}</h2>
        <p>{gone ? "It was deleted, or the address is not quite right." : said(problem)}</p>
        {!gone && (
          <button type="button" className="button" onClick={load}>
            Try again
          </button>
        )}
      </div>
    );
  }
  if (!page) {
    return (
      <div className="loading" role="status" aria-label="Loading the conversation">
        <span />
        <span />
        <span />
      </div>
    );
  }
  return <Live id={id} page={page} onChanged={onChanged} onBegin={onBegin} />;
}

type LiveProps = { id: string; page: ConversationPage; onChanged: () => void; onBegin: () => void };

function Live({ id, page, onChanged, onBegin }: LiveProps) {
  const conversation = useConversation(id, page, onChanged);
  const { messages, status, error, connection, notice, stopping } = conversation;
  const busy = status === "streaming" || status === "submitted";
  const [editing, setEditing] = useState<string | null>(null);
  const lastOfUser = messages.findLast((message) => message.role === "user")?.id ?? null;

  // What is handed on stays the same while an answer streams: who gets it is not drawn again.
  const { does } = conversation;
  const send = useCallback(
    (draft: Draft) => {
      onBegin();
      does.send(draft);
    },
    [onBegin, does],
  );
  const editLast = useCallback(() => setEditing(lastOfUser), [lastOfUser]);

  useEffect(() => {
    const stop = (event: KeyboardEvent) => {
      if (event.key === "Escape" && busy && !event.defaultPrevented) does.stop();
    };
    window.addEventListener("keydown", stop);
    return () => window.removeEventListener("keydown", stop);
  }, [busy, does]);

  return (
    <ActionsContext value={conversation.actions}>
      <Messages conversation={conversation} id={id} editing={editing} setEditing={setEditing} send={send} />
      <div className="dock">
        {connection === "rejoining" && busy && (
          <p className="banner" role="status">
            <span className="pulse" /> The connection was lost. The answer goes on; re-joining it…
          </p>
        )}
        {(error || notice) && (
          <div className="banner bad" role="alert">
            <Icon name="warning" />
            <span>{error ? said(error) : notice}</span>
            {error && (
              <button type="button" className="button small" onClick={() => void does.retry()}>
                Try again
              </button>
            )}
            <button type="button" className="icon-button small" aria-label="Dismiss" onClick={does.dismiss}>
              <Icon name="close" size={15} />
            </button>
          </div>
        )}
        <Composer
          key={id}
          busy={busy}
          stopping={stopping}
          onStop={does.stop}
          onEditLast={editLast}
          onSend={send}
        />
      </div>
      <p className="visually-hidden" role="status">
        {busy ? "An answer is being written." : messages.at(-1)?.role === "assistant" ? "The answer is complete." : ""}
      </p>
    </ActionsContext>
  );
}
