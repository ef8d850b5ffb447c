// What a turn consumed, whom it called, and what is stored of it.
import { JsonView } from "../parts/JsonView";
import type { ProviderCall, Trace, Usage } from "./trace";
import { between, clock, count, duration, money, time } from "./words";

function UsageCells({ usage }: { usage: Usage | undefined }) {
  return (
    <>
      <td>
        {count(usage?.inputTokens)}
        {usage?.cacheReadTokens !== undefined && <small>{count(usage.cacheReadTokens)} from the cache</small>}
        {usage?.cacheWriteTokens !== undefined && <small>{count(usage.cacheWriteTokens)} to the cache</small>}
      </td>
      <td>
        {count(usage?.outputTokens)}
        {usage?.reasoningTokens !== undefined && <small>{count(usage.reasoningTokens)} of reasoning</small>}
      </td>
    </>
  );
}

function CallRow({ call }: { call: ProviderCall }) {
  return (
    <tr>
      <td>
        <b>{call.model}</b>
        <small>{call.provider}</small>
      </td>
      <td>{call.status ?? "–"}</td>
      <td title={time(call.startedAt)}>{clock(call.startedAt)}</td>
      <td>{duration(between(call.startedAt, call.firstTokenAt))}</td>
      <td>{duration(between(call.startedAt, call.finishedAt))}</td>
      <UsageCells usage={call.usage} />
      <td>{money(call.cost)}</td>
    </tr>
  );
}

export function Calls({ trace }: { trace: Trace }) {
  const { providerCalls, turn } = trace;
  return (
    <div className="table-wrap facts" tabIndex={0} role="region" aria-label="Provider calls">
      <table>
        <thead>
          <tr>
            {["Model", "Status", "Began", "First token", "Took", "Input", "Output", "Cost"].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {providerCalls.map((call) => (
            <CallRow key={call.id} call={call} />
          ))}
          {providerCalls.length === 0 && (
            <tr>
              <td colSpan={8} className="quiet">
                No call of a model was recorded in this turn.
              </td>
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={5}>
              The whole turn
            </th>
            <UsageCells usage={turn.usage} />
            <td>{money(turn.cost)}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

export function Stored({ trace }: { trace: Trace }) {
  return (
    <div className="two">
      <section>
        <h3>The turn</h3>
        <JsonView value={trace.turn} label="turn" />
      </section>
      <section>
        <h3>Its messages</h3>
        <JsonView value={trace.messages} label="messages" />
      </section>
    </div>
  );
}
