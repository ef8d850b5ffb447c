// Numbers as people read them.
import type { Cost, Trace, Turn } from "./trace";

/** A length of time; on an axis that is `whole` ms long, as exactly as its neighbours differ. */
export function duration(ms: number | null | undefined, whole = Infinity): string {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return "–";
  if (whole < 20) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export const between = (begin: string | undefined, end: string | undefined): number | null =>
  begin && end ? Date.parse(end) - Date.parse(begin) : null;

export const count = (value: number | undefined): string => (value === undefined ? "–" : value.toLocaleString("en"));

export function money(cost: Cost | undefined): string {
  if (!cost) return "–";
  const amount = Number(cost.amount);
  const currency = cost.currency ?? "USD";
  const digits = amount < 0.01 ? 5 : 2;
  // Browsers know currencies by three letters, and refuse any other.
  if (!/^[A-Z]{3}$/.test(currency)) return `${amount.toFixed(digits)} ${currency}`;
  return amount.toLocaleString("en", { style: "currency", currency, minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const clock = (iso: string): string => new Date(iso).toLocaleTimeString("en", { hour12: false });

export function time(iso: string | undefined): string {
  if (!iso) return "–";
  return new Date(iso).toLocaleString("en", { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
}

export const total = (turn: Turn): number | undefined =>
  turn.usage?.totalTokens ?? (turn.usage ? (turn.usage.inputTokens ?? 0) + (turn.usage.outputTokens ?? 0) : undefined);

const SPOKEN = /^(text-delta|reasoning-delta|tool-input-(start|available)|file|source-|data-)/;

/** Until a person saw something: by the first frame that says something, else by the first token of a call. */
export function untilFirst({ turn, frames, providerCalls }: Trace): number | null {
  const first = frames.find((frame) => SPOKEN.test(frame.chunk.type))?.at;
  return between(turn.startedAt ?? turn.createdAt, first ?? providerCalls[0]?.firstTokenAt);
}
