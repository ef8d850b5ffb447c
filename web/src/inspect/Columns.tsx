// Events beside the chunks that they became beside the parts that those became: choose one, see its relatives.
import { useMemo } from "react";
import { JsonView } from "../parts/JsonView";
import { Rows } from "./Rows";
import type { Relations } from "./relations";
import { familyOf } from "./relations";
import type { Chunk, Trace } from "./trace";

export type Choice = { kind: "event" | "frame" | "part"; key: number } | null;

const NONE: ReadonlySet<number> = new Set();

/** What stands behind the type of a chunk, on one line. */
function gist(chunk: Chunk): string {
  const { delta, toolName, toolCallId, errorText, finishReason, messageId, title, url, data, id } = chunk;
  const found = delta ?? toolName ?? errorText ?? finishReason ?? messageId ?? title ?? url ?? data ?? toolCallId ?? id ?? "";
  return typeof found === "string" ? found : JSON.stringify(found);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return body;
  }
}

function relatives(choice: Choice, trace: Trace, relations: Relations) {
  const seqs =
    choice === null
      ? []
      : choice.kind === "frame"
        ? [choice.key]
        : choice.kind === "event"
          ? (relations.framesOf.get(choice.key) ?? [])
          : (relations.lanes[choice.key]?.seqs ?? []);
  const events = seqs.map((seq) => relations.eventOf.get(seq)).filter((index) => index !== undefined);
  const parts = seqs.map((seq) => relations.laneOf.get(seq)).filter((key) => key !== undefined);
  return { frames: new Set(seqs), events: new Set(events), parts: new Set(parts), trace };
}

function detail(choice: Choice, trace: Trace, relations: Relations): { label: string; value: unknown } | null {
  if (choice === null) return null;
  if (choice.kind === "event") {
    const event = trace.events.find((one) => one.index === choice.key);
    return event ? { label: `Event ${event.index}, as it came`, value: parsed(event.body) } : null;
  }
  if (choice.kind === "frame") {
    const frame = trace.frames.find((one) => one.seq === choice.key);
    return frame ? { label: `Chunk of frame ${frame.seq}`, value: frame.chunk } : null;
  }
  const lane = relations.lanes[choice.key];
  const chunks = trace.frames.filter((frame) => relations.laneOf.get(frame.seq) === choice.key).map((frame) => frame.chunk);
  const deltas = chunks.map((chunk) => chunk.delta).filter((delta) => typeof delta === "string");
  if (!lane) return null;
  return lane.family === "text" || lane.family === "reasoning"
    ? { label: `Part: ${lane.name}`, value: deltas.join("") }
    : { label: `Part: ${lane.name}`, value: chunks };
}

type Props = { trace: Trace; relations: Relations; choice: Choice; onChoose: (choice: Choice) => void };

export function Columns({ trace, relations, choice, onChoose }: Props) {
  const related = useMemo(() => relatives(choice, trace, relations), [choice, trace, relations]);
  const shown = useMemo(() => detail(choice, trace, relations), [choice, trace, relations]);
  const of = (kind: "event" | "frame" | "part") => (choice?.kind === kind ? choice.key : null);
  return (
    <>
      <div className="columns">
        <section>
          <h3>
            Events <small>{trace.events.length}</small>
          </h3>
          <Rows
            label="Events"
            rows={trace.events}
            keyOf={(event) => event.index}
            chosen={of("event")}
            related={choice ? related.events : NONE}
            onChoose={(key) => onChoose({ kind: "event", key })}
          >
            {(event) => (
              <>
                <b>{event.index}</b>
                <code>{event.body.slice(0, 200)}</code>
              </>
            )}
          </Rows>
        </section>
        <section>
          <h3>
            Chunks <small>{trace.frames.length}</small>
          </h3>
          <Rows
            label="Chunks"
            rows={trace.frames}
            keyOf={(frame) => frame.seq}
            chosen={of("frame")}
            related={choice ? related.frames : NONE}
            onChoose={(key) => onChoose({ kind: "frame", key })}
          >
            {(frame) => (
              <>
                <b>{frame.seq}</b>
                <span className={`kind family-${familyOf(frame.chunk.type)}`}>{frame.chunk.type}</span>
                <code>{gist(frame.chunk).slice(0, 200)}</code>
              </>
            )}
          </Rows>
        </section>
        <section>
          <h3>
            Parts <small>{relations.lanes.length}</small>
          </h3>
          <Rows
            label="Parts"
            rows={relations.lanes}
            keyOf={(lane) => lane.key}
            chosen={of("part")}
            related={choice ? related.parts : NONE}
            onChoose={(key) => onChoose({ kind: "part", key })}
          >
            {(lane) => (
              <>
                <span className={`kind family-${lane.family}`}>{lane.family}</span>
                <code>{lane.name === lane.family ? "" : lane.name}</code>
                <b>{lane.seqs.length}</b>
              </>
            )}
          </Rows>
        </section>
      </div>
      <section className="detail" aria-label="What is chosen">
        {shown ? (
          <>
            <h3>{shown.label}</h3>
            <JsonView value={shown.value} label={shown.label} />
          </>
        ) : (
          <p className="quiet">Choose an event, a chunk or a part to see it whole, and its relatives beside it.</p>
        )}
      </section>
    </>
  );
}
