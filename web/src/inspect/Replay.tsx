// The turn once more, as it went or faster: the real reader of the AI SDK builds the message up from the kept frames.
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { useEffect, useMemo, useRef, useState } from "react";
import { Parts } from "../parts/Parts";
import { Icon } from "../shell/Icon";
import { useRetold, type FrameRow, type Trace } from "./trace";
import { duration } from "./words";

const SPEEDS = [1, 4, 16, 64];

/** Frames without times are shown at the pace of a fast model; a silence is not sat out longer than this. */
const FRAME_MS = 30;
const PAUSE_MS_MAX = 3000;

type Feed = { fed: number; controller: ReadableStreamDefaultController<UIMessageChunk>; begun: UIMessage | undefined };

/** The message as the first `count` frames make it. */
function useFolded(frames: FrameRow[], begun: UIMessage | undefined, count: number): UIMessage | null {
  const [message, setMessage] = useState<UIMessage | null>(null);
  const feed = useRef<Feed | null>(null);
  useEffect(() => {
    if (!feed.current || feed.current.fed > count || feed.current.begun !== begun) {
      let mine: Feed;
      const stream = new ReadableStream<UIMessageChunk>({
        start(controller) {
          mine = { fed: 0, controller, begun };
        },
      });
      feed.current = mine!;
      setMessage(null);
      void (async () => {
        let pending = 0;
        let latest: UIMessage | null = null;
        const show = () => {
          pending = 0;
          if (feed.current === mine) setMessage(latest);
        };
        // The reader writes into what it is given.
        for await (const state of readUIMessageStream({ stream, message: structuredClone(begun), terminateOnError: false })) {
          latest = state;
          pending ||= requestAnimationFrame(show);
        }
      })().catch(() => undefined); // A stream that ends in an error has shown what came before it.
    }
    const { current } = feed;
    for (; current.fed < count; current.fed += 1) current.controller.enqueue(frames[current.fed]!.chunk);
  }, [frames, begun, count]);
  return count === 0 ? null : message;
}

export function Replay({ trace, chat }: { trace: Trace; chat: string }) {
  const { frames, messages, turn } = trace;
  const [count, setCount] = useState(frames.length);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  // A turn that goes on with a message begins with what that message was; the server knows it.
  const { retold, problem } = useRetold(chat, trace);
  const ready = trace.live || retold !== null || problem !== null;
  const continues = retold?.continues;
  const begun = useMemo<UIMessage | undefined>(
    () => continues ?? (turn.messageId ? { id: turn.messageId, role: "assistant", parts: [] } : undefined),
    [continues, turn.messageId],
  );
  const message = useFolded(frames, begun, ready ? count : 0);

  useEffect(() => {
    if (!playing) return;
    if (count >= frames.length) return setPlaying(false);
    const [last, next] = [frames[count - 1], frames[count]!];
    const wait = last?.at && next.at ? Date.parse(next.at) - Date.parse(last.at) : FRAME_MS;
    const timer = setTimeout(() => setCount(count + 1), Math.min(wait, PAUSE_MS_MAX) / speed);
    return () => clearTimeout(timer);
  }, [playing, count, speed, frames]);

  const play = () => {
    if (count >= frames.length) setCount(0);
    setPlaying(!playing);
  };
  const stored = messages.find((one) => one.id === turn.messageId);
  const begin = frames[0]?.at ? Date.parse(frames[0].at) : null;
  const at = count > 0 ? frames[count - 1]?.at : null;
  return (
    <div className="replay">
      <div className="player" role="group" aria-label="Replay">
        <button type="button" className="icon-button" aria-label={playing ? "Pause" : "Play"} onClick={play} disabled={frames.length === 0}>
          <Icon name={playing ? "pause" : "play"} />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label="One frame back"
          disabled={count === 0}
          onClick={() => (setPlaying(false), setCount(count - 1))}
        >
          <Icon name="left" />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label="One frame on"
          disabled={count >= frames.length}
          onClick={() => (setPlaying(false), setCount(count + 1))}
        >
          <Icon name="right" />
        </button>
        <input
          type="range"
          aria-label="Frames shown"
          min={0}
          max={frames.length}
          value={count}
          onChange={(event) => (setPlaying(false), setCount(Number(event.target.value)))}
        />
        <output>
          {count} / {frames.length}
          {begin !== null && at ? ` · ${duration(Date.parse(at) - begin)}` : ""}
        </output>
        <select aria-label="Speed" value={speed} onChange={(event) => setSpeed(Number(event.target.value))}>
          {SPEEDS.map((one) => (
            <option key={one} value={one}>
              {one} ×
            </option>
          ))}
        </select>
      </div>
      <p className="replay-now">
        {count > 0 ? <code>{JSON.stringify(frames[count - 1]?.chunk).slice(0, 300)}</code> : <span className="quiet">Before the first frame.</span>}
      </p>
      <div className="replay-sides">
        <section aria-label="Replayed message">
          <h3>Replayed</h3>
          <div className="paper">{message ? <Parts message={message} live={count < frames.length} newest={false} /> : <p className="quiet">Nothing yet.</p>}</div>
        </section>
        <section aria-label="Stored message">
          <h3>Stored</h3>
          <div className="paper">
            {stored ? <Parts message={stored} live={false} newest={false} /> : <p className="quiet">The message is stored when the turn is over.</p>}
          </div>
        </section>
      </div>
    </div>
  );
}
