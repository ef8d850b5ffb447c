// Markdown as React elements: no HTML is ever made of a model's text, so there is none to sanitise.
//
// The text is cut into blocks, and a block is read and drawn again only when its own text has changed: a long answer
// that streams costs what its last paragraph costs.
import type { Token, Tokens } from "marked";
import { Fragment, memo, useMemo, useRef, type ReactNode } from "react";
import { blocks, type Blocks } from "./blocks";
import { CodeBlock } from "./CodeBlock";
import { safeLink, safePicture } from "./links";

const ENTITIES: { [name: string]: string } = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** What the tokens say with character references. */
function plain(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,6});/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = name[1]?.toLowerCase() === "x" ? parseInt(name.slice(2), 16) : parseInt(name.slice(1), 10);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

export function SafeLink({ href, title, children }: { href: string; title?: string | null; children: ReactNode }) {
  const safe = safeLink(href);
  if (!safe) return <span className="link-refused">{children}</span>;
  return (
    <a href={safe} title={title ?? safe} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

function Picture({ token }: { token: Tokens.Image }) {
  const inline = safePicture(token.href);
  if (inline) return <img src={inline} alt={plain(token.text)} />;
  // Showing it would tell a stranger that it is being read.
  return <SafeLink href={token.href}>{plain(token.text) || "picture"}</SafeLink>;
}

function inline(tokens: Token[] | undefined): ReactNode {
  return tokens?.map((token, index) => <Fragment key={index}>{inlineOne(token)}</Fragment>);
}

function inlineOne(token: Token): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <del>{inline(token.tokens)}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return (
        <SafeLink href={token.href} title={token.title}>
          {inline(token.tokens)}
        </SafeLink>
      );
    case "image":
      return <Picture token={token as Tokens.Image} />;
    case "escape":
      return token.text;
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw.trim()) ? <br /> : token.raw;
    case "text":
      return token.tokens ? inline(token.tokens) : plain(token.text);
    default:
      return "text" in token ? plain(String(token.text)) : token.raw;
  }
}

function List({ token }: { token: Tokens.List }) {
  const items = token.items.map((item, index) => (
    <li key={index} className={item.task ? "task" : undefined}>
      {item.task && <input type="checkbox" checked={Boolean(item.checked)} readOnly disabled aria-label="task" />}
      {item.tokens.map((child, at) =>
        child.type === "checkbox" ? null : child.type === "text" && !item.loose ? (
          <Fragment key={at}>{inlineOne(child)}</Fragment>
        ) : (
          <Block key={at} token={child} />
        ),
      )}
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || undefined}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ token }: { token: Tokens.Table }) {
  const cell = (kind: "th" | "td") => (one: Tokens.TableCell, index: number) => {
    const Cell = kind;
    return (
      <Cell key={index} className={one.align ? `align-${one.align}` : undefined}>
        {inline(one.tokens)}
      </Cell>
    );
  };
  return (
    <div className="table-wrap" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>{token.header.map(cell("th"))}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>{row.map(cell("td"))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Block({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      // The page has its own first heading: an answer's begin below it.
      const Heading = `h${Math.min(token.depth + 2, 6)}` as "h3";
      return <Heading className={`depth-${token.depth}`}>{inline(token.tokens)}</Heading>;
    }
    case "paragraph":
    case "text":
      return <p>{token.tokens ? inline(token.tokens) : plain(String(token.text))}</p>;
    case "code":
      return <CodeBlock code={token.text} language={String(token.lang ?? "").split(/\s/)[0] ?? ""} />;
    case "blockquote":
      return <blockquote>{token.tokens?.map((child, index) => <Block key={index} token={child} />)}</blockquote>;
    case "list":
      return <List token={token as Tokens.List} />;
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "html":
      return <p>{token.raw.trim()}</p>;
    default:
      return <p>{token.raw}</p>;
  }
}

/** Blocks are equal if they say the same in the same document of definitions. */
const KeptBlock = memo(
  function KeptBlock({ token }: { token: Token; definitions: string }) {
    return <Block token={token} />;
  },
  (old, now) => old.token === now.token || (old.token.raw === now.token.raw && old.definitions === now.definitions),
);

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  // What was read before is only a shorter way to the same blocks, so it may be kept from a drawing that was given up.
  const had = useRef<Blocks>(undefined);
  const { tokens, links } = useMemo(() => (had.current = blocks(text, had.current)), [text]);
  const definitions = Object.entries(links)
    .map(([name, { href }]) => `${name} ${href}`)
    .join("\n");
  return (
    <div className="markdown">
      {tokens.map((token, index) => (
        <KeptBlock key={index} token={token} definitions={definitions} />
      ))}
    </div>
  );
});
