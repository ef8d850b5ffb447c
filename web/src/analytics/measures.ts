// What the server counts, and what it is drawn as: series over keys, whatever the keys are.
import { ask } from "../wire/api";

export type By = "day" | "model" | "agent";

export type Span = { from: string; to: string };

type Rows<T> = { rows: (T & { key: string })[]; from: string; to: string };

type Turns = { turns: number; succeeded: number; failed: number; cancelled: number; interrupted: number; waiting: number };
type Tokens = { input: number; output: number; cacheRead: number; cacheWrite: number; reasoning: number; total: number };
type Cost = { amount: string; currency: string; unpricedCalls: number };
type Latency = {
  turns: number;
  firstTokenP50: number | null;
  firstTokenP95: number | null;
  durationP50: number | null;
  durationP95: number | null;
};
type Tools = { tool: string; calls: number; succeeded: number; failed: number; denied: number };
type Endings = { reason: string; turns: number };

export type Measures = {
  turns: Rows<Turns>;
  tokens: Rows<Tokens>;
  cost: Rows<Cost>;
  latency: Rows<Latency>;
  tools: Rows<Tools>;
  endings: Rows<Endings>;
};

const NAMES: (keyof Measures)[] = ["turns", "tokens", "cost", "latency", "tools", "endings"];

export async function readMeasures(by: By, span: Span, signal: AbortSignal): Promise<Measures> {
  const answers = await Promise.all(NAMES.map((name) => ask<Rows<never>>(`/analytics/${name}`, { by, ...span }, { signal })));
  return Object.fromEntries(NAMES.map((name, index) => [name, answers[index]])) as unknown as Measures;
}

/** A colour of the style sheet, by the name of its property. */
export type Colour = "--good" | "--bad" | "--warm" | "--violet" | "--blue" | "--accent" | "--ink-faint";

/** A value for each key; null where there is none to draw. */
export type Series = { name: string; colour: Colour; values: (number | null)[] };

export type Chart = { keys: string[]; series: Series[]; stacked: boolean };

const DAY_MS = 86_400_000;

/** So many days are drawn one by one; a server counts any range, but no screen shows more. */
const DAYS_MAX = 800;

function keysOf(measures: Rows<object>[], by: By): string[] {
  if (by !== "day") return [...new Set(measures.flatMap(({ rows }) => rows.map((row) => row.key)))].sort();
  const { from, to } = measures[0]!;
  const days = Math.min(DAYS_MAX, Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1);
  return Array.from({ length: days }, (_, index) => new Date(Date.parse(to) - (days - 1 - index) * DAY_MS).toISOString().slice(0, 10));
}

function sums<T>(rows: (T & { key: string })[], keys: string[], value: (row: T) => number): number[] {
  const found = new Map<string, number>();
  for (const row of rows) found.set(row.key, (found.get(row.key) ?? 0) + value(row));
  return keys.map((key) => found.get(key) ?? 0);
}

function singles<T>(rows: (T & { key: string })[], keys: string[], value: (row: T) => number | null): (number | null)[] {
  const found = new Map(rows.map((row) => [row.key, value(row)]));
  return keys.map((key) => found.get(key) ?? null);
}

export function chartsOf(measures: Measures, by: By) {
  const keys = keysOf(Object.values(measures), by);
  const { turns, tokens, cost, latency, tools } = measures;
  const chart = (stacked: boolean, ...series: Series[]): Chart => ({ keys, series, stacked });
  const of = (name: string, colour: Colour, values: (number | null)[]): Series => ({ name, colour, values });
  const currencies = [...new Set(cost.rows.map((row) => row.currency))].sort();
  const palette: Colour[] = ["--accent", "--violet", "--warm", "--blue"];
  return {
    turns: chart(
      true,
      of("Succeeded", "--good", sums(turns.rows, keys, (row) => row.succeeded)),
      of("Waiting", "--blue", sums(turns.rows, keys, (row) => row.waiting)),
      of("Stopped", "--ink-faint", sums(turns.rows, keys, (row) => row.cancelled)),
      of("Interrupted", "--warm", sums(turns.rows, keys, (row) => row.interrupted)),
      of("Failed", "--bad", sums(turns.rows, keys, (row) => row.failed)),
    ),
    // Input contains what came from the cache, output contains reasoning: what is stacked must not count twice.
    tokens: chart(
      true,
      of("Input", "--blue", sums(tokens.rows, keys, (row) => Math.max(0, row.input - row.cacheRead))),
      of("From the cache", "--ink-faint", sums(tokens.rows, keys, (row) => row.cacheRead)),
      of("Output", "--accent", sums(tokens.rows, keys, (row) => Math.max(0, row.output - row.reasoning))),
      of("Reasoning", "--violet", sums(tokens.rows, keys, (row) => row.reasoning)),
    ),
    cost: chart(
      false,
      ...currencies.map((currency, index) =>
        of(currency, palette[index % palette.length]!, sums(cost.rows.filter((row) => row.currency === currency), keys, (row) => Number(row.amount))),
      ),
    ),
    first: chart(
      false,
      of("Half are faster", "--accent", singles(latency.rows, keys, (row) => row.firstTokenP50)),
      of("95 % are faster", "--warm", singles(latency.rows, keys, (row) => row.firstTokenP95)),
    ),
    duration: chart(
      false,
      of("Half are faster", "--accent", singles(latency.rows, keys, (row) => row.durationP50)),
      of("95 % are faster", "--warm", singles(latency.rows, keys, (row) => row.durationP95)),
    ),
    tools: chart(
      true,
      of("Succeeded", "--good", sums(tools.rows, keys, (row) => row.succeeded)),
      of("Denied", "--warm", sums(tools.rows, keys, (row) => row.denied)),
      of("Failed", "--bad", sums(tools.rows, keys, (row) => row.failed)),
      of("Without an outcome", "--ink-faint", sums(tools.rows, keys, (row) => row.calls - row.succeeded - row.failed - row.denied)),
    ),
    endings: endingsOf(measures),
  };
}

function endingsOf({ endings }: Measures): Chart {
  const reasons = new Map<string, number>();
  for (const { reason, turns } of endings.rows) reasons.set(reason, (reasons.get(reason) ?? 0) + turns);
  const ordered = [...reasons].sort(([, one], [, other]) => other - one);
  return {
    keys: ordered.map(([reason]) => reason),
    series: [{ name: "Turns", colour: "--accent", values: ordered.map(([, turns]) => turns) }],
    stacked: false,
  };
}

export type ToolTotal = Tools;

/** Each tool over the whole range, the most used first. */
export function toolTotals({ tools }: Measures): ToolTotal[] {
  const totals = new Map<string, Tools>();
  for (const { tool, calls, succeeded, failed, denied } of tools.rows) {
    const had = totals.get(tool) ?? { tool, calls: 0, succeeded: 0, failed: 0, denied: 0 };
    totals.set(tool, {
      tool,
      calls: had.calls + calls,
      succeeded: had.succeeded + succeeded,
      failed: had.failed + failed,
      denied: had.denied + denied,
    });
  }
  return [...totals.values()].sort((one, other) => other.calls - one.calls);
}

export const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
