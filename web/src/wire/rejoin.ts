// A `fetch` that follows a turn through cut connections: what it answers is one unbroken stream of server-sent events.
//
// Turns belong to the server, so a lost connection loses nothing: the stream is asked for again from the first event
// that has not come yet. A stream that is whole ends with `[DONE]`; one that merely stops was cut.
import { address, chatPath } from "./api";

/** How long to wait before each new attempt; the last one is repeated. Together with the tries: some five minutes. */
const WAITS_MS = [0, 250, 500, 1000, 2000, 4000, 8000];
const TRIES_MAX = 42;

const DONE = "data: [DONE]";

export type Connection = "whole" | "rejoining";

type Turn = { chat: string; id: string | null };

const lines = (event: string) => event.split("\n");
const isDone = (event: string) => lines(event).includes(DONE);
const isChunk = (event: string) => lines(event).some((line) => line.startsWith("data:"));

/** Splits a stream into its events, each with the empty line that ends it; keeps back what is not whole. */
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
        yield rest.slice(0, end + 2);
        rest = rest.slice(end + 2);
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Waits, but not longer than until the network is back. */
function pause(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      window.removeEventListener("online", over);
      signal?.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    window.addEventListener("online", over);
    signal?.addEventListener("abort", over);
  });
}

async function* unbroken(
  first: Response,
  turn: Turn,
  skipped: number,
  signal: AbortSignal | null | undefined,
  say: (connection: Connection) => void,
): AsyncGenerator<string> {
  let response: Response | null = first;
  let seen = skipped;
  for (let attempt = 0; ; ) {
    try {
      if (response?.body) {
        for await (const event of events(response.body)) {
          say("whole");
          attempt = 0;
          yield event;
          if (isDone(event)) return;
          if (isChunk(event)) seen += 1;
        }
      }
    } catch (problem) {
      if (signal?.aborted) throw problem;
    }
    if (signal?.aborted || !turn.id) return;
    if (attempt >= TRIES_MAX) throw new TypeError("network: the connection is lost, and the answer could not be re-joined");
    say("rejoining");
    await pause(WAITS_MS[Math.min(attempt, WAITS_MS.length - 1)]!, signal);
    attempt += 1;
    const from = address(chatPath(turn.chat, "/stream"), { turn: turn.id, startIndex: seen });
    response = await fetch(from, { signal, credentials: "same-origin" }).catch(() => null);
    if (response?.status === 204) return;
    if (response && response.status >= 400 && response.status < 500 && response.status !== 429) {
      throw new TypeError(`the answer could not be re-joined (${response.status})`);
    }
    if (response && !response.ok) response = null;
  }
}

/** Sends a request until there is an answer: the server answers a message that it has already with the same turn. */
async function persistently(
  input: RequestInfo | URL,
  init: RequestInit | undefined,
  say: (connection: Connection) => void,
): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await fetch(input, init);
    } catch (problem) {
      if (init?.signal?.aborted || attempt >= WAITS_MS.length) throw problem;
      say("rejoining");
      await pause(WAITS_MS[attempt]!, init?.signal);
    }
  }
}

/** The fetch of one conversation's transport. */
export function rejoining(chat: string, say: (connection: Connection) => void): typeof fetch {
  return async (input, init) => {
    const response = await persistently(input, init, say);
    say("whole");
    if (!response.ok || !response.body || response.status === 204) return response;
    const asked = new URL(String(input), document.baseURI).searchParams;
    const turn = { chat, id: response.headers.get("x-rejoinder-turn") ?? asked.get("turn") };
    const source = unbroken(response, turn, Number(asked.get("startIndex") ?? 0), init?.signal, say);
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value, done } = await source.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await source.return(undefined);
      },
    });
    return new Response(body, { status: response.status, headers: response.headers });
  };
}
