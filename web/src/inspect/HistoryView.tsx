// What the model was shown, and what was left out and why, as it was recorded when the turn began.
import { useEffect, useState } from "react";
import { JsonView } from "../parts/JsonView";
import { readConversation } from "../wire/api";
import type { History } from "./trace";
import { count } from "./words";

const REASONS: { [reason: string]: string } = {
  messages: "no room for more messages",
  turns: "no room for more turns",
  chars: "no room for more characters",
  tokens: "no room for more tokens",
  summarised: "a summary stands for it",
  "no-question": "it answers no question that is shown",
  older: "it is older than what was left out",
};

/** So many of the newest messages are asked for, to show how those that were sent begin. */
const MESSAGES_READ = 500;
const BEGINNING_CHARACTERS = 160;

/** How messages begin, by their ids; what is further back, or on another branch, is known by its id only. */
function useBeginnings(chat: string): ReadonlyMap<string, string> {
  const [known, setKnown] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    const leaving = new AbortController();
    readConversation(chat, { limit: MESSAGES_READ }, leaving.signal).then(
      ({ messages }) =>
        setKnown(
          new Map(
            messages.map(({ id, parts }) => {
              const said = parts.flatMap((part) => (part.type === "text" ? [part.text] : part.type.startsWith("tool-") ? [part.type.slice(5)] : []));
              return [id, said.join(" ").slice(0, BEGINNING_CHARACTERS)];
            }),
          ),
        ),
      () => undefined,
    );
    return () => leaving.abort();
  }, [chat]);
  return known;
}

type Drop = NonNullable<History["dropped"]>[number];

function said(drop: Drop): string {
  const many = `${drop.read === false ? "up to " : ""}${count(drop.messages)} ${drop.messages === 1 ? "message" : "messages"}`;
  const place = drop.fromSeq === undefined || drop.throughSeq === undefined ? "" : ` (#${drop.fromSeq} to #${drop.throughSeq})`;
  return many + place + (drop.tokens ? `, some ${count(drop.tokens)} tokens` : "");
}

export function HistoryView({ history, chat }: { history: History; chat: string }) {
  const beginnings = useBeginnings(chat);
  const { sent, dropped = [], trims = [], budget } = history;
  const figures: [string, string][] = [
    ["Messages", count(history.messages)],
    ["Turns", count(history.turns)],
    ["Tokens counted", count(history.tokens)],
    ["Estimated", count(history.estimate)],
    ["Model counted", count(history.inputTokens)],
  ];
  return (
    <>
      <dl className="figures history-figures">
        {figures
          .filter(([, value]) => value !== "–")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <div className="two">
        <section aria-label="Sent to the model">
          <h3>
            Sent to the model <small>{sent.length < history.messages ? `the newest ${sent.length} of ${history.messages}` : sent.length}</small>
          </h3>
          <ol className="history">
            {sent.map((one) => (
              <li key={one.id}>
                <b>{one.role}</b>
                {beginnings.get(one.id) ? <span title={one.id}>{beginnings.get(one.id)}</span> : <code>{one.id}</code>}
              </li>
            ))}
          </ol>
        </section>
        <section aria-label="Left out, and why">
          <h3>Left out, and why</h3>
          {dropped.length + trims.length === 0 ? (
            <p className="quiet">{history.truncated ? history.explanation : "Nothing was left out."}</p>
          ) : (
            <ol className="history">
              {dropped.map((drop, index) => (
                <li key={index}>
                  <b>{said(drop)}</b>
                  <span>{REASONS[drop.reason] ?? drop.reason}</span>
                </li>
              ))}
              {trims.map((trim) => (
                <li key={trim.messageId}>
                  <code>{trim.messageId}</code>
                  <span>without {trim.leftOut}</span>
                </li>
              ))}
            </ol>
          )}
          {budget && (
            <>
              <h3>Budget</h3>
              <JsonView value={budget} label="budget" />
            </>
          )}
        </section>
      </div>
    </>
  );
}
