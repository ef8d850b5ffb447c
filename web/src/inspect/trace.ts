// A turn as the inspector holds it: its record, its frames, its events, and how they belong together.
import { useEffect, useState } from "react";
import type { UIMessage, UIMessageChunk } from "ai";
import { ask, chatPath, type Json } from "../wire/api";

export type Usage = {
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
};

export type Cost = { amount: string | number; currency?: string };

export type Turn = {
  id: string;
  status: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | "interrupted";
  createdAt: string;
  trigger?: string;
  messageId?: string;
  agent?: string;
  usage?: Usage;
  cost?: Cost;
  error?: { message?: string; code?: string };
  startedAt?: string;
  finishedAt?: string;
  metadata?: { history?: History; [name: string]: unknown };
};

export type ProviderCall = {
  id: string;
  provider: string;
  model: string;
  operation?: string;
  status?: string;
  startedAt: string;
  firstTokenAt?: string;
  finishedAt?: string;
  usage?: Usage;
  cost?: Cost;
};

/** What the model was shown, as the engine recorded it with the turn. */
export type History = {
  messages: number;
  sent: { id: string; role: string }[];
  truncated: boolean;
  explanation?: string;
  dropped?: { reason: string; messages: number; turns?: number; tokens?: number; fromSeq?: number; throughSeq?: number; read?: boolean }[];
  trims?: { messageId: string; leftOut: string }[];
  tokens?: number;
  turns?: number;
  estimate?: number;
  inputTokens?: number;
  budget?: { [name: string]: unknown };
};

/** The turn as the translator of today tells it. */
export type Retold = { same: boolean; frames: { seq: number; chunk: Chunk }[]; continues: UIMessage | null; message: UIMessage; problems: string[] };

export type TurnDetail = {
  turn: Turn;
  providerCalls: ProviderCall[];
  messages: UIMessage[];
};

export type Chunk = UIMessageChunk & { [key: string]: unknown };

export type FrameRow = { seq: number; chunk: Chunk; at?: string | null };

export type EventRow = { index: number; before: number; body: string };

export type Trace = TurnDetail & { frames: FrameRow[]; events: EventRow[]; live: boolean };

const PAGE_ROWS = 1000;
const POLL_MS = 600;

export const isLive = (turn: Turn) => turn.status === "running" || turn.status === "queued";

export type TurnPage = { turns: Turn[]; before?: string | null };

/** The newest turns, or those before a place. */
export const listTurns = (chat: string, before?: string | null, signal?: AbortSignal) =>
  ask<TurnPage>(chatPath(chat, "/turns"), { limit: 100, before }, { signal });

/** Every turn of a conversation, the oldest first. */
export async function listAllTurns(chat: string): Promise<Turn[]> {
  let { turns, before } = await listTurns(chat);
  while (before) {
    const page = await listTurns(chat, before);
    turns = [...page.turns, ...turns];
    before = page.before;
  }
  return turns;
}

const path = (chat: string, turn: string, rest = "") => chatPath(chat, `/turns/${encodeURIComponent(turn)}${rest}`);

async function readAll<T>(address: string, name: "frames" | "events", from: number, signal?: AbortSignal): Promise<T[]> {
  const rows: T[] = [];
  for (let next: number | null = from; next !== null; ) {
    const page: { [key: string]: Json | T[] } = await ask(address, { from: next, limit: PAGE_ROWS }, { signal });
    rows.push(...((page[name] ?? []) as T[]));
    next = typeof page.next === "number" && (page[name] as T[]).length > 0 ? page.next : null;
  }
  return rows;
}

export async function readTrace(chat: string, turn: string, signal?: AbortSignal): Promise<Trace> {
  const [detail, frames, events] = await Promise.all([
    ask<TurnDetail>(path(chat, turn), {}, { signal }),
    readAll<FrameRow>(path(chat, turn, "/frames"), "frames", 0, signal),
    readAll<EventRow>(path(chat, turn, "/events"), "events", 0, signal),
  ]);
  return { ...detail, frames, events, live: isLive(detail.turn) };
}

/** The turn told again, once it is over; or why it could not be. */
export function useRetold(chat: string, { turn, live }: Trace): { retold: Retold | null; problem: Error | null } {
  const [state, setState] = useState<{ retold: Retold | null; problem: Error | null }>({ retold: null, problem: null });
  useEffect(() => {
    if (live) return;
    const leaving = new AbortController();
    ask<Retold>(path(chat, turn.id, "/retold"), {}, { signal: leaving.signal }).then(
      (retold) => setState({ retold, problem: null }),
      (problem: Error) => !leaving.signal.aborted && setState({ retold: null, problem }),
    );
    return () => leaving.abort();
  }, [chat, turn.id, live]);
  return state;
}

/** The trace of a turn; a live one is watched: what is new is asked for, and carries the time at which it came. */
export function useTrace(chat: string | null, turn: string | null): { trace: Trace | null; problem: Error | null } {
  const [state, setState] = useState<{ of: string; trace: Trace | null; problem: Error | null }>({ of: "", trace: null, problem: null });
  const of = `${chat} ${turn}`;
  useEffect(() => {
    if (!chat || !turn) return;
    const leaving = new AbortController();
    let timer = 0;
    const { signal } = leaving;
    const watch = async (had: Trace | null) => {
      try {
        let trace: Trace;
        if (!had) trace = await readTrace(chat, turn, signal);
        else {
          // The status is read first: what it calls over has no frames that come later.
          const detail = await ask<TurnDetail>(path(chat, turn), {}, { signal });
          const frames = await readAll<FrameRow>(path(chat, turn, "/frames"), "frames", (had.frames.at(-1)?.seq ?? -1) + 1, signal);
          const events = await readAll<EventRow>(path(chat, turn, "/events"), "events", (had.events.at(-1)?.index ?? -1) + 1, signal);
          const at = new Date().toISOString();
          trace = {
            ...detail,
            frames: [...had.frames, ...frames.map((frame) => ({ ...frame, at: frame.at ?? at }))],
            events: [...had.events, ...events],
            live: isLive(detail.turn),
          };
        }
        setState({ of, trace, problem: null });
        if (trace.live) timer = window.setTimeout(() => void watch(trace), POLL_MS);
      } catch (why) {
        if (!signal.aborted) setState({ of, trace: had, problem: why as Error });
      }
    };
    void watch(null);
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [chat, turn, of]);
  return state.of === of ? state : { trace: null, problem: null };
}

/** Everything of some turns, one JSON a line, each line with its kind. */
export function asLines(traces: Trace[]): string {
  const lines = traces.flatMap(({ turn, providerCalls, messages, events, frames }) => [
    { kind: "turn", ...turn },
    ...providerCalls.map((call) => ({ kind: "provider-call", turnId: turn.id, ...call })),
    ...events.map((event) => ({ kind: "event", turnId: turn.id, ...event })),
    ...frames.map((frame) => ({ kind: "frame", turnId: turn.id, ...frame })),
    ...messages.map((message) => ({ kind: "message", turnId: turn.id, message })),
  ]);
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
