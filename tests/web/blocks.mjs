// Reads Markdown as the pages do, piece by piece, and says how that differs from reading it at once.
// A line in: {"pieces": [...]}. A line out: {"wrong": {...} | null, "read": characters read, "changed": blocks}.
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { blocks } from "../../web/src/markdown/blocks.ts";
import { Lexer } from "../../web/node_modules/marked/lib/marked.esm.js";

let read = 0;
const { lex } = Lexer.prototype;
Lexer.prototype.lex = function (source) {
  read += source.length;
  return lex.call(this, source);
};

function grown(pieces) {
  read = 0;
  let [text, had, wrong, changed] = ["", undefined, null, 0];
  for (const piece of pieces) {
    text += piece;
    const now = blocks(text, had);
    // Of blocks far from the end, none may be another value than before.
    const far = (had?.tokens ?? []).slice(0, -6);
    changed += far.filter((token, index) => token !== now.tokens[index]).length;
    const counted = read;
    const whole = blocks(text);
    read = counted;
    if (!wrong && !isDeepStrictEqual([...now.tokens], [...whole.tokens])) wrong = { text, grown: now.tokens, whole: whole.tokens };
    had = now;
  }
  return { wrong, read, changed };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(grown(JSON.parse(line).pieces))}\n`);
}
