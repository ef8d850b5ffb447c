// The turn on a time axis: a row for each part, a stroke for each frame.
import { useMemo } from "react";
import type { Lane, Relations } from "./relations";
import type { FrameRow, Trace } from "./trace";
import { duration } from "./words";

const WIDTH = 1000;
const TICKS_MAX = 6;

/** Behind this share of the axis there is no room for what a tick says. */
const LAST_TICK_SHARE = 0.88;

/** A silence longer than this share of the turn is worth pointing at. */
const GAP_SHARE = 0.12;
const GAP_MS_MIN = 200;

type Axis = { timed: boolean; begin: number; end: number; at: (frame: FrameRow) => number };

/** Where the axis is written on: at round numbers, as near to each other as there is room for. */
function ticks(length: number, whole: boolean): number[] {
  const decade = 10 ** Math.floor(Math.log10(length / TICKS_MAX));
  const step = [1, 2, 5, 10].map((digit) => digit * decade).find((one) => length / one < TICKS_MAX) ?? length;
  const least = whole ? Math.max(1, step) : step;
  return Array.from({ length: Math.floor((length * LAST_TICK_SHARE) / least) + 1 }, (_, index) => index * least);
}

/** Time if all frames know theirs, else their number. */
function axisOf(trace: Trace): Axis {
  const { frames, turn } = trace;
  const timed = frames.length > 0 && frames.every((frame) => frame.at);
  if (!timed) return { timed, begin: 0, end: Math.max(1, frames.length - 1), at: (frame) => frame.seq };
  const times = frames.map((frame) => Date.parse(frame.at!));
  const begin = Math.min(Date.parse(turn.startedAt ?? turn.createdAt), ...times.slice(0, 1));
  return { timed, begin, end: Math.max(begin + 1, times.at(-1)!), at: (frame) => Date.parse(frame.at!) };
}

type Props = { trace: Trace; relations: Relations; selected: number | null; onSelect: (seq: number) => void };

export function Timeline({ trace, relations, selected, onSelect }: Props) {
  const axis = useMemo(() => axisOf(trace), [trace]);
  const bySeq = useMemo(() => new Map(trace.frames.map((frame) => [frame.seq, frame])), [trace.frames]);
  const x = (frame: FrameRow) => ((axis.at(frame) - axis.begin) / (axis.end - axis.begin)) * WIDTH;
  const length = axis.end - axis.begin;
  const label = (value: number) => (axis.timed ? duration(value, length) : `#${axis.begin + value}`);
  const gaps = useMemo(() => gapsOf(trace.frames, axis), [trace.frames, axis]);
  const marker = selected === null ? undefined : bySeq.get(selected);

  const strokes = (lane: Lane) => {
    const places = [...new Set(lane.seqs.map((seq) => Math.round(x(bySeq.get(seq)!) * 2) / 2))];
    return places.map((place) => `M${place} 3v14`).join("");
  };
  const pick = (lane: Lane, share: number) => {
    const wanted = axis.begin + share * (axis.end - axis.begin);
    const near = lane.seqs.reduce((best, seq) =>
      Math.abs(axis.at(bySeq.get(seq)!) - wanted) < Math.abs(axis.at(bySeq.get(best)!) - wanted) ? seq : best,
    );
    onSelect(near);
  };

  if (trace.frames.length === 0) return <p className="quiet">No frame has been written yet.</p>;
  return (
    <div className="timeline" role="group" aria-label="Timeline">
      {relations.lanes.map((lane) => {
        const [first, last] = [bySeq.get(lane.seqs[0]!)!, bySeq.get(lane.seqs.at(-1)!)!];
        const left = x(first);
        const current = selected !== null && relations.laneOf.get(selected) === lane.key;
        return (
          <button
            key={lane.key}
            type="button"
            className={`lane family-${lane.family}`}
            aria-pressed={current}
            aria-label={`${lane.name}, ${lane.seqs.length} frames`}
            onClick={(event) => {
              const track = event.currentTarget.querySelector("svg")!.getBoundingClientRect();
              // A press of a key has no place: it takes the first frame.
              pick(lane, event.detail === 0 ? left / WIDTH : (event.clientX - track.left) / track.width);
            }}
          >
            <span className="lane-name">
              <i /> {lane.name}
            </span>
            <svg viewBox={`0 0 ${WIDTH} 20`} preserveAspectRatio="none" aria-hidden="true">
              <rect className="lane-bar" x={left} y="6" width={Math.max(2, x(last) - left)} height="8" rx="2" />
              <path className="lane-strokes" d={strokes(lane)} vectorEffect="non-scaling-stroke" />
              {marker && <path className="lane-marker" d={`M${x(marker)} 0v20`} vectorEffect="non-scaling-stroke" />}
            </svg>
          </button>
        );
      })}
      <div className="axis" aria-hidden="true">
        <span />
        <div>
          {ticks(length, !axis.timed).map((value) => (
            <span key={value} style={{ left: `${(100 * value) / length}%` }}>
              {label(value)}
            </span>
          ))}
        </div>
      </div>
      <p className="quiet">
        {axis.timed
          ? gaps.length > 0
            ? `Longest silences: ${gaps.map((gap) => `${duration(gap.ms)} before #${gap.seq}`).join(", ")}.`
            : "No long silences."
          : "By the number of the frame: the times of these frames were not kept."}
      </p>
    </div>
  );
}

function gapsOf(frames: FrameRow[], axis: Axis): { ms: number; seq: number }[] {
  if (!axis.timed) return [];
  const least = Math.max(GAP_MS_MIN, (axis.end - axis.begin) * GAP_SHARE);
  return frames
    .map((frame, index) => ({ seq: frame.seq, ms: axis.at(frame) - (index ? axis.at(frames[index - 1]!) : axis.begin) }))
    .filter((gap) => gap.ms >= least)
    .sort((one, other) => other.ms - one.ms)
    .slice(0, 3);
}
