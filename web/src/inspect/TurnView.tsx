// One turn, from all sides.
import { useMemo, useState } from "react";
import { Icon } from "../shell/Icon";
import { said } from "../chat/useConversation";
import { Columns, type Choice } from "./Columns";
import { Diff } from "./Diff";
import { Calls, Stored } from "./Facts";
import { HistoryView } from "./HistoryView";
import { relate } from "./relations";
import { Replay } from "./Replay";
import { Timeline } from "./Timeline";
import { asLines, useTrace, type Trace } from "./trace";
import { download } from "./download";
import { between, clock, count, duration, money, total, untilFirst } from "./words";

type Tab = "trace" | "replay" | "diff" | "calls" | "history" | "stored";

const TABS: { tab: Tab; name: string }[] = [
  { tab: "trace", name: "Trace" },
  { tab: "replay", name: "Replay" },
  { tab: "diff", name: "Diff" },
  { tab: "calls", name: "Calls and usage" },
  { tab: "history", name: "History" },
  { tab: "stored", name: "Stored" },
];

function Figures({ trace }: { trace: Trace }) {
  const { turn } = trace;
  const figures: [string, string][] = [
    ["Began", clock(turn.startedAt ?? turn.createdAt)],
    ["First token", duration(untilFirst(trace))],
    ["Took", duration(between(turn.startedAt ?? turn.createdAt, turn.finishedAt))],
    ["Tokens", count(total(turn))],
    ["Cost", money(turn.cost)],
    ["Frames", count(trace.frames.length)],
    ["Events", count(trace.events.length)],
  ];
  return (
    <dl className="figures">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function TraceTab({ trace }: { trace: Trace }) {
  const [choice, setChoice] = useState<Choice>(null);
  const relations = useMemo(() => relate(trace.frames, trace.events), [trace.frames, trace.events]);
  return (
    <>
      <Timeline
        trace={trace}
        relations={relations}
        selected={choice?.kind === "frame" ? choice.key : null}
        onSelect={(key) => setChoice({ kind: "frame", key })}
      />
      <Columns trace={trace} relations={relations} choice={choice} onChoose={setChoice} />
    </>
  );
}

export function TurnView({ chat, turn }: { chat: string; turn: string }) {
  const { trace, problem } = useTrace(chat, turn);
  const [tab, setTab] = useState<Tab>("trace");
  if (!trace) {
    return problem ? (
      <div className="centre" role="alert">
        <Icon name="warning" size={28} />
        <p>{said(problem)}</p>
      </div>
    ) : (
      <div className="loading" role="status" aria-label="Loading the turn">
        <span />
        <span />
        <span />
      </div>
    );
  }
  const history = trace.turn.metadata?.history;
  const tabs = TABS.filter((one) => (one.tab !== "history" || history) && (one.tab !== "diff" || !trace.live));
  return (
    <article className="turn" aria-label="Turn">
      <header className="turn-head">
        <span className={`status status-${trace.turn.status}`}>{trace.turn.status}</span>
        <h2>
          {trace.turn.agent ?? "Turn"} <small>{trace.turn.trigger}</small>
        </h2>
        {trace.live && (
          <span className="watching" role="status">
            <span className="pulse" /> watching
          </span>
        )}
        <button
          type="button"
          className="button small"
          onClick={() => download(`turn-${trace.turn.id}.jsonl`, asLines([trace]))}
        >
          <Icon name="download" size={15} /> JSON lines
        </button>
      </header>
      {trace.turn.error && (
        <p className="banner bad">
          <Icon name="warning" />
          <span>{[trace.turn.error.code, trace.turn.error.message].filter(Boolean).join(": ")}</span>
        </p>
      )}
      <Figures trace={trace} />
      <div className="tabs" role="tablist" aria-label="Sides of the turn">
        {tabs.map((one, index) => (
          <button
            key={one.tab}
            type="button"
            role="tab"
            id={`tab-${one.tab}`}
            aria-selected={tab === one.tab}
            aria-controls="tab-panel"
            tabIndex={tab === one.tab ? 0 : -1}
            onClick={() => setTab(one.tab)}
            onKeyDown={(event) => {
              const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
              if (!step) return;
              const next = tabs[(index + step + tabs.length) % tabs.length]!;
              setTab(next.tab);
              document.getElementById(`tab-${next.tab}`)?.focus();
            }}
          >
            {one.name}
          </button>
        ))}
      </div>
      <div className="tab-panel" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`}>
        {tab === "trace" && <TraceTab trace={trace} />}
        {tab === "replay" && <Replay trace={trace} chat={chat} />}
        {tab === "calls" && <Calls trace={trace} />}
        {tab === "diff" && <Diff trace={trace} chat={chat} />}
        {tab === "history" && history && <HistoryView history={history} chat={chat} />}
        {tab === "stored" && <Stored trace={trace} />}
      </div>
    </article>
  );
}
