// Which event became which chunks, and which chunks became which part.
import type { Chunk, EventRow, FrameRow } from "./trace";

export type Family = "text" | "reasoning" | "tool" | "source" | "file" | "data" | "turn";

/** A part as the frames made it: from its first frame to its last. */
export type Lane = { key: number; family: Family; name: string; seqs: number[] };

export function familyOf(type: string): Family {
  if (type.startsWith("text")) return "text";
  if (type.startsWith("reasoning-file") || type.startsWith("file")) return "file";
  if (type.startsWith("reasoning")) return "reasoning";
  if (type.startsWith("tool")) return "tool";
  if (type.startsWith("source")) return "source";
  if (type.startsWith("data-")) return "data";
  return "turn";
}

const text = (value: unknown) => (typeof value === "string" ? value : "");

/** Under which key the chunks of one part find each other while it is open; nothing for chunks of the turn. */
function openKey(chunk: Chunk, family: Family): string | null {
  switch (family) {
    case "text":
    case "reasoning":
      return `${family} ${text(chunk.id)}`;
    case "tool":
      return `tool ${text(chunk.toolCallId) || text(chunk.approvalId)}`;
    case "data":
      return chunk.id === undefined ? null : `${chunk.type} ${text(chunk.id)}`;
    default:
      return null;
  }
}

function nameOf(chunk: Chunk, family: Family): string {
  if (family === "tool") return text(chunk.toolName) || "tool";
  if (family === "data") return chunk.type.slice(5) || "data";
  if (family === "source") return text(chunk.title) || text(chunk.url) || "source";
  if (family === "file") return text(chunk.mediaType) || "file";
  return family;
}

export type Relations = {
  lanes: Lane[];
  /** By seq: the lane of a frame, and the event that it came from. */
  laneOf: Map<number, number>;
  eventOf: Map<number, number>;
  /** By event: the frames that it became. */
  framesOf: Map<number, number[]>;
};

export function relate(frames: FrameRow[], events: EventRow[]): Relations {
  const lanes: Lane[] = [];
  const laneOf = new Map<number, number>();
  const eventOf = new Map<number, number>();
  const framesOf = new Map<number, number[]>();
  const open = new Map<string, Lane>();
  let said = 0; // Events that came before the frame that is looked at.
  for (const { seq, chunk } of frames) {
    while (said < events.length && events[said]!.before <= seq) said += 1;
    if (said > 0) {
      const { index } = events[said - 1]!;
      eventOf.set(seq, index);
      framesOf.set(index, [...(framesOf.get(index) ?? []), seq]);
    }
    const family = familyOf(chunk.type);
    const key = openKey(chunk, family);
    let lane = key === null ? undefined : open.get(key);
    if (!lane || chunk.type === "text-start" || chunk.type === "reasoning-start") {
      const kept = family === "turn" ? lanes.find((one) => one.family === "turn") : undefined;
      lane = kept ?? { key: lanes.length, family, name: nameOf(chunk, family), seqs: [] };
      if (!kept) lanes.push(lane);
      if (key !== null) open.set(key, lane);
    }
    lane.seqs.push(seq);
    laneOf.set(seq, lane.key);
  }
  return { lanes, laneOf, eventOf, framesOf };
}
