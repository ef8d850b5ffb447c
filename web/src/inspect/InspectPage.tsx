// The inspector: why an answer is what it is. A conversation, its turns, and one of them from all sides.
import { useEffect, useState } from "react";
import { ago } from "../chat/ago";
import { said } from "../chat/useConversation";
import { useConversations } from "../chat/useConversations";
import { Frame } from "../shell/Frame";
import { Icon } from "../shell/Icon";
import { Link } from "../shell/Link";
import { addressOf } from "../shell/location";
import { listen } from "../wire/tabs";
import { download } from "./download";
import { asLines, isLive, listAllTurns, listTurns, readTrace, type Turn, type TurnPage } from "./trace";
import { TurnView } from "./TurnView";
import { between, clock, count, duration, total } from "./words";
import "../styles/figures.css";
import "./inspect.css";
import "./replay.css";

/** While a turn is live the list of turns is looked at this often. */
const LOOK_MS = 2000;

function Conversations({ current, onGo }: { current: string | null; onGo: () => void }) {
  const { search, setSearch, found, state, hasMore, more } = useConversations(0);
  return (
    <>
      <div className="search" role="search">
        <Icon name="search" size={16} />
        <input type="search" aria-label="Search conversations" placeholder="Search" value={search} onChange={(event) => setSearch(event.target.value)} />
      </div>
      <nav className="entries" aria-label="Conversations">
        <ul>
          {found.map((one) => (
            <li key={one.id} className="entry">
              <Link to={addressOf("inspect", { chat: one.id })} current={one.id === current} onGo={onGo}>
                <span className="entry-title">{one.title || "New chat"}</span>
                <time dateTime={one.updatedAt}>{ago(one.updatedAt)}</time>
              </Link>
            </li>
          ))}
          {hasMore && (
            <li>
              <button type="button" className="quiet-button" onClick={() => void more()}>
                Earlier conversations
              </button>
            </li>
          )}
        </ul>
        {found.length === 0 && state === "ready" && <p className="entries-none">{search ? "Nothing found." : "No conversations yet."}</p>}
      </nav>
    </>
  );
}

type Turns = { of: string | null; turns: Turn[] | null; before: string | null; problem: Error | null };

const NO_TURNS: Turns = { of: null, turns: null, before: null, problem: null };

/** The newest page, behind the earlier ones that have been asked for. */
function renewed(had: Turns, chat: string, page: TurnPage): Turns {
  const met = had.of === chat ? (had.turns ?? []).findIndex((turn) => turn.id === page.turns[0]?.id) : -1;
  const earlier = had.turns?.slice(0, Math.max(0, met)) ?? [];
  return { of: chat, turns: [...earlier, ...page.turns], before: earlier.length > 0 ? had.before : (page.before ?? null), problem: null };
}

function useTurns(chat: string | null) {
  const [state, setState] = useState<Turns>(NO_TURNS);
  useEffect(() => {
    if (!chat) return;
    const leaving = new AbortController();
    let timer = 0;
    const look = () => {
      clearTimeout(timer);
      listTurns(chat, null, leaving.signal).then(
        (page) => {
          setState((had) => renewed(had, chat, page));
          if (page.turns.some(isLive)) timer = window.setTimeout(look, LOOK_MS);
        },
        (problem: Error) => !leaving.signal.aborted && setState({ ...NO_TURNS, of: chat, problem }),
      );
    };
    look();
    const unlisten = listen(chat, look);
    return () => {
      leaving.abort();
      clearTimeout(timer);
      unlisten();
    };
  }, [chat]);
  const now = state.of === chat ? state : NO_TURNS;
  const more = async () => {
    if (!chat || !now.before) return;
    const page = await listTurns(chat, now.before);
    setState((had) => (had.before === now.before ? { ...had, turns: [...page.turns, ...(had.turns ?? [])], before: page.before ?? null } : had));
  };
  return { ...now, more };
}

type ListProps = { chat: string; turns: Turn[]; current: string | null; hasEarlier: boolean; more: () => Promise<void> };

function TurnList({ chat, turns, current, hasEarlier, more }: ListProps) {
  const [busy, setBusy] = useState(false);
  const all = async () => {
    setBusy(true);
    try {
      const traces = [];
      for (const turn of await listAllTurns(chat)) traces.push(await readTrace(chat, turn.id));
      download(`conversation-${chat}.jsonl`, asLines(traces));
    } finally {
      setBusy(false);
    }
  };
  return (
    <nav className="turns" aria-label="Turns">
      <div className="turns-head">
        <h2>Turns</h2>
        <button type="button" className="icon-button small" aria-label="Download all turns as JSON lines" title="Download all turns as JSON lines" disabled={busy} onClick={() => void all()}>
          <Icon name="download" size={15} />
        </button>
      </div>
      <ol>
        {hasEarlier && (
          <li>
            <button type="button" className="quiet-button" onClick={() => void more().catch(() => undefined)}>
              Earlier turns
            </button>
          </li>
        )}
        {turns.map((turn, index) => (
          <li key={turn.id}>
            <Link to={addressOf("inspect", { chat, turn: turn.id })} current={turn.id === current}>
              <span className={`dot status-${turn.status}`} />
              <span className="turn-name">
                {hasEarlier ? clock(turn.createdAt) : `${index + 1}.`} {turn.agent ?? "turn"}
              </span>
              <small>
                {turn.status} · {duration(between(turn.startedAt ?? turn.createdAt, turn.finishedAt))}
                {total(turn) === undefined ? "" : ` · ${count(total(turn))} tokens`}
              </small>
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

export default function InspectPage({ query }: { query: URLSearchParams }) {
  const [open, setOpen] = useState(false);
  const chat = query.get("chat");
  const { turns, before, problem, more } = useTurns(chat);
  const asked = query.get("turn");
  const turn = asked ?? turns?.at(-1)?.id ?? null;
  return (
    <Frame page="inspect" open={open} setOpen={setOpen} side={<Conversations current={chat} onGo={() => setOpen(false)} />}>
      {!chat ? (
        <div className="centre">
          <Icon name="inspect" size={30} />
          <h2>Why is an answer what it is?</h2>
          <p>Choose a conversation. Each of its turns is kept: what the agent said, what became of it, and when.</p>
        </div>
      ) : problem ? (
        <div className="centre" role="alert">
          <Icon name="warning" size={28} />
          <p>{said(problem)}</p>
        </div>
      ) : (
        <div className="inspector">
          {turns && <TurnList chat={chat} turns={turns} current={turn} hasEarlier={before !== null} more={more} />}
          {turn ? (
            <TurnView key={turn} chat={chat} turn={turn} />
          ) : (
            turns && (
              <div className="centre">
                <p>Nothing has been answered in this conversation yet.</p>
              </div>
            )
          )}
        </div>
      )}
    </Frame>
  );
}
