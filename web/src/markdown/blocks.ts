// Markdown as blocks, read again each time it has grown: what is complete is not read twice, and stays the same values.
import { Lexer, type Links, type Token, type TokensList } from "marked";

/** So many blocks at the end may still become something else: `2` after a list is a paragraph until `2.` continues it. */
const OPEN_BLOCKS = 2;

export type Blocks = { source: string; tokens: Token[]; links: Links };

/** Of the blocks of a text that goes on: how many nothing that follows can change, and where the next one begins. */
function settled(tokens: Token[]): { count: number; end: number } {
  let count = tokens.length;
  // Without an empty line between them, a block may even be swallowed by the one before it.
  for (let open = 0; count > 0 && (open < OPEN_BLOCKS || !/\n[ \t]*\n$/.test(tokens[count - 1]!.raw)); ) {
    count -= 1;
    if (tokens[count]!.type !== "space") open += 1;
  }
  let end = 0;
  for (let index = 0; index < count; index += 1) end += tokens[index]!.raw.length;
  return { count, end };
}

const lexed = (source: string): TokensList => new Lexer({ gfm: true }).lex(source);

/** The blocks of a text. `had` are those of its beginning, if they were read before. */
export function blocks(text: string, had?: Blocks): Blocks {
  const source = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  // A definition changes what was said long before it: such a text is read as a whole.
  if (had && Object.keys(had.links).length === 0 && source.startsWith(had.source)) {
    const { count, end } = settled(had.tokens);
    const rest = lexed(source.slice(end));
    if (Object.keys(rest.links).length === 0) return { source, tokens: [...had.tokens.slice(0, count), ...rest], links: {} };
  }
  const tokens = lexed(source);
  return { source, tokens, links: tokens.links };
}
