// The numbers: what turns came to, by day, model or agent, over a range that the address holds.
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { said } from "../chat/useConversation";
import { Frame } from "../shell/Frame";
import { Icon } from "../shell/Icon";
import { addressOf, go } from "../shell/location";
import { chartsOf, readMeasures, sum, toolTotals, type By, type Chart, type Measures, type Span, type ToolTotal } from "./measures";
import { Plot } from "./Plot";
import "../styles/figures.css";
import "./analytics.css";

const BYS: { by: By; name: string }[] = [
  { by: "day", name: "Day" },
  { by: "model", name: "Model" },
  { by: "agent", name: "Agent" },
];

const RANGES = [7, 30, 90, 365];
const DAYS = 30;
const DAY_MS = 86_400_000;

const count = (value: number) =>
  value >= 10_000 ? new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value) : value.toLocaleString("en", { maximumFractionDigits: 1 });
const money = (value: number) => (value === 0 ? "0" : value < 0.01 ? value.toFixed(5) : value.toFixed(2));
/** With so many digits that neighbours on an axis differ. */
const brief = (value: number) => Number(value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)).toLocaleString("en");
const ms = (value: number) => (value < 1000 ? `${brief(value)} ms` : `${brief(value / 1000)} s`);
const share = (part: number, whole: number) => (whole === 0 ? "–" : `${((100 * part) / whole).toFixed(part === whole ? 0 : 1)} %`);
const dayName = (key: string) => new Date(`${key}T00:00:00Z`).toLocaleDateString("en", { month: "short", day: "numeric", timeZone: "UTC" });

const today = () => new Date().toISOString().slice(0, 10);
const before = (day: string, days: number) => new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10);
const isDay = (value: string | null): value is string => value !== null && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));

function asked(query: URLSearchParams): { by: By; span: Span } {
  const [by, from, to] = [query.get("by"), query.get("from"), query.get("to")];
  const last = isDay(to) ? to : today();
  const first = isDay(from) && from <= last ? from : before(last, DAYS - 1);
  return { by: BYS.find((one) => one.by === by)?.by ?? "day", span: { from: first, to: last } };
}

function useMeasures(by: By, { from, to }: Span) {
  const [state, setState] = useState<{ by: By; measures: Measures | null; problem: Error | null; loading: boolean }>({ by, measures: null, problem: null, loading: true });
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    setState((had) => ({ ...had, loading: true }));
    readMeasures(by, { from, to }, leaving.signal).then(
      (measures) => setState({ by, measures, problem: null, loading: false }),
      (problem: Error) => !leaving.signal.aborted && setState({ by, measures: null, problem, loading: false }),
    );
    return () => leaving.abort();
  }, [by, from, to, version]);
  return { ...state, again: () => setVersion((had) => had + 1) };
}

function Controls({ by, span }: { by: By; span: Span }) {
  const move = (change: { by?: By; from?: string; to?: string }) => go(addressOf("analytics", { by, ...span, ...change }), { replace: true });
  const days = Math.round((Date.parse(span.to) - Date.parse(span.from)) / DAY_MS) + 1;
  return (
    <div className="controls">
      <fieldset className="segments">
        <legend className="visually-hidden">By</legend>
        {BYS.map((one) => (
          <button key={one.by} type="button" aria-pressed={one.by === by} onClick={() => move({ by: one.by })}>
            {one.name}
          </button>
        ))}
      </fieldset>
      <fieldset className="segments">
        <legend className="visually-hidden">Range</legend>
        {RANGES.map((range) => (
          <button key={range} type="button" aria-pressed={range === days && span.to === today()} onClick={() => move({ from: before(today(), range - 1), to: today() })}>
            {range === 365 ? "1 year" : `${range} days`}
          </button>
        ))}
      </fieldset>
      <span className="dates">
        <input type="date" aria-label="From" value={span.from} max={span.to} onChange={(event) => isDay(event.target.value) && move({ from: event.target.value })} />
        <span aria-hidden="true">to</span>
        <input type="date" aria-label="To" value={span.to} min={span.from} onChange={(event) => isDay(event.target.value) && move({ to: event.target.value })} />
      </span>
    </div>
  );
}

function Totals({ measures }: { measures: Measures }) {
  const { turns, tokens, cost, tools } = measures;
  const made = sum(turns.rows.map((row) => row.turns));
  const calls = sum(tools.rows.map((row) => row.calls));
  const currencies = [...new Set(cost.rows.map((row) => row.currency))];
  const spent = currencies.map((one) => `${money(sum(cost.rows.filter((row) => row.currency === one).map((row) => Number(row.amount))))} ${one}`);
  const figures: [string, string][] = [
    ["Turns", count(made)],
    ["Succeeded", share(sum(turns.rows.map((row) => row.succeeded)), made)],
    ["Failed", count(sum(turns.rows.map((row) => row.failed + row.interrupted)))],
    ["Tokens", count(sum(tokens.rows.map((row) => row.total)))],
    ["Cost", spent.join(" + ") || "–"],
    ["Tool calls", count(calls)],
    ["Failed calls", share(sum(tools.rows.map((row) => row.failed)), calls)],
  ];
  return (
    <dl className="figures" aria-label="The whole range">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function ToolTable({ totals }: { totals: ToolTotal[] }) {
  return (
    <div className="table-wrap facts" tabIndex={0} role="region" aria-label="Tools">
      <table>
        <thead>
          <tr>
            {["Tool", "Calls", "Succeeded", "Failed", "Denied", "Failure rate"].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {totals.map((one) => (
            <tr key={one.tool}>
              <td>
                <code>{one.tool}</code>
              </td>
              <td>{count(one.calls)}</td>
              <td>{count(one.succeeded)}</td>
              <td>{count(one.failed)}</td>
              <td>{count(one.denied)}</td>
              <td>{share(one.failed, one.calls)}</td>
            </tr>
          ))}
          {totals.length === 0 && (
            <tr>
              <td colSpan={6} className="quiet">
                No tool was called.
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

function Card({ id, title, note, children }: { id: string; title: string; note?: string; children: ReactNode }) {
  return (
    <section className="card" id={id} aria-labelledby={`title-${id}`}>
      <h3 id={`title-${id}`}>{title}</h3>
      {note && <p className="card-note">{note}</p>}
      {children}
    </section>
  );
}

const SECTIONS: { id: string; title: string; note?: string; lines?: boolean; show: (value: number) => string }[] = [
  { id: "turns", title: "Turns", show: count },
  { id: "tokens", title: "Tokens", show: count },
  { id: "cost", title: "Cost", show: money },
  { id: "first", title: "Time to first token", lines: true, show: ms },
  { id: "duration", title: "Duration", lines: true, show: ms },
  { id: "tools", title: "Tool calls", show: count },
  { id: "endings", title: "Why turns ended", note: "Over the whole range.", show: count },
];

function Sections({ onGo }: { onGo: () => void }) {
  const jump = (id: string) => {
    document.getElementById(id)?.scrollIntoView({ block: "start" });
    onGo();
  };
  return (
    <nav className="entries sections" aria-label="Sections">
      <ul>
        {[...SECTIONS, { id: "by-tool", title: "By tool" }].map((one) => (
          <li key={one.id} className="entry">
            <a
              href={`#${one.id}`}
              onClick={(event) => {
                event.preventDefault();
                jump(one.id);
              }}
            >
              <span className="entry-title">{one.title}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

export default function AnalyticsPage({ query }: { query: URLSearchParams }) {
  const [open, setOpen] = useState(false);
  const { by, span } = asked(query);
  const state = useMeasures(by, span);
  const { measures, problem, loading } = state;
  // The charts are by what was asked when these numbers came.
  const charts = useMemo(() => measures && (chartsOf(measures, state.by) as { [id: string]: Chart }), [measures, state.by]);
  return (
    <Frame page="analytics" open={open} setOpen={setOpen} side={<Sections onGo={() => setOpen(false)} />}>
      <div className="analytics" aria-busy={loading}>
        <header className="analytics-head">
          <h2>Analytics</h2>
          <Controls by={by} span={span} />
        </header>
        {problem && (
          <p className="banner bad" role="alert">
            <Icon name="warning" />
            <span>{said(problem)}</span>
            <button type="button" className="button small" onClick={state.again}>
              Try again
            </button>
          </p>
        )}
        {measures && charts && (
          <>
            <Totals measures={measures} />
            <div className="cards">
              {SECTIONS.map(({ id, title, note, lines, show }) => (
                <Card key={id} id={id} title={title} note={note}>
                  <Plot
                    title={title}
                    chart={charts[id]!}
                    lines={Boolean(lines) && state.by === "day"}
                    whole={show === count}
                    show={show}
                    keyName={state.by === "day" && id !== "endings" ? dayName : String}
                  />
                </Card>
              ))}
              <Card id="by-tool" title="By tool" note="Over the whole range.">
                <ToolTable totals={toolTotals(measures)} />
              </Card>
            </div>
          </>
        )}
      </div>
    </Frame>
  );
}
