// The turn as it was told, beside the turn as the translator of today tells it from the same events.
import { said } from "../chat/useConversation";
import { JsonView } from "../parts/JsonView";
import { Icon } from "../shell/Icon";
import { useRetold, type Chunk, type Retold, type Trace } from "./trace";
import { count } from "./words";

/** Of a long difference the beginning is shown: what comes after it mostly follows from it. */
const ROWS_MAX = 200;

type Row = { key: string; told: string | null; again: string | null };

/** What stands between the common beginning and the common end. */
function differences(told: string[], again: string[]): { rows: Row[]; begin: number; more: number } {
  const least = Math.min(told.length, again.length);
  let begin = 0;
  while (begin < least && told[begin] === again[begin]) begin += 1;
  let tail = 0;
  while (tail < least - begin && told[told.length - 1 - tail] === again[again.length - 1 - tail]) tail += 1;
  const [left, right] = [told.slice(begin, told.length - tail), again.slice(begin, again.length - tail)];
  const length = Math.max(left.length, right.length);
  const rows = Array.from({ length: Math.min(length, ROWS_MAX) }, (_, index) => ({
    key: `#${begin + index}`,
    told: left[index] ?? null,
    again: right[index] ?? null,
  }));
  return { rows, begin, more: length - rows.length };
}

const lines = (frames: { chunk: Chunk }[]) => frames.map(({ chunk }) => JSON.stringify(chunk));

function Verdict({ trace, retold }: { trace: Trace; retold: Retold }) {
  return (
    <p className={retold.same ? "verdict good" : "verdict warm"} role="status">
      <Icon name={retold.same ? "check" : "warning"} />
      {retold.same
        ? `Told again from its ${count(trace.events.length)} events, the turn says the same, chunk by chunk.`
        : "Told again from its events, the turn says something else today."}
    </p>
  );
}

export function Diff({ trace, chat }: { trace: Trace; chat: string }) {
  const { retold, problem } = useRetold(chat, trace);
  if (problem) return <p className="quiet">{said(problem)}</p>;
  if (!retold) return <p className="quiet">Telling it again…</p>;
  const { rows, begin, more } = differences(lines(trace.frames), lines(retold.frames));
  const stored = trace.messages.find((one) => one.id === trace.turn.messageId);
  return (
    <>
      <Verdict trace={trace} retold={retold} />
      {retold.problems.length > 0 && (
        <ul className="history">
          {retold.problems.map((text, index) => (
            <li key={index}>{text}</li>
          ))}
        </ul>
      )}
      {rows.length > 0 && (
        <div className="table-wrap diff" tabIndex={0} role="region" aria-label="Differences">
          <table>
            <thead>
              <tr>
                <th scope="col">Chunk</th>
                <th scope="col">As it was told</th>
                <th scope="col">As it is told today</th>
              </tr>
            </thead>
            <tbody>
              {begin > 0 && (
                <tr>
                  <td colSpan={3} className="quiet">
                    {count(begin)} chunks before are the same.
                  </td>
                </tr>
              )}
              {rows.map((row) => (
                <tr key={row.key} className={row.told === row.again ? undefined : "differs"}>
                  <th scope="row">{row.key}</th>
                  <td>{row.told === null ? "–" : <code>{row.told}</code>}</td>
                  <td>{row.again === null ? "–" : <code>{row.again}</code>}</td>
                </tr>
              ))}
              {more > 0 && (
                <tr>
                  <td colSpan={3} className="quiet">
                    And {count(more)} more.
                  </td>
                </tr>
              )}
            </tbody>
          </table>
        </div>
      )}
      <div className="two">
        <section>
          <h3>Stored message</h3>
          <JsonView value={stored ?? null} label="stored message" />
        </section>
        <section>
          <h3>Message told again</h3>
          <JsonView value={retold.message} label="message told again" />
        </section>
      </div>
    </>
  );
}
