// Any value as JSON, coloured, and cut where nobody would read on.
import { useMemo, useState, type ReactNode } from "react";
import { CopyButton } from "../shell/CopyButton";

const SHOWN_CHARACTERS_MAX = 4_000;

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d[\d.eE+-]*)/g;

function coloured(text: string): ReactNode[] {
  const nodes: ReactNode[] = [];
  let last = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > last) nodes.push(text.slice(last, match.index));
    const kind = match[1] ? (match[2] ? "json-key" : "json-string") : match[3] ? "json-word" : "json-number";
    nodes.push(
      <span key={match.index} className={kind}>
        {match[1] ?? match[0]}
      </span>,
    );
    if (match[2]) nodes.push(match[2]);
    last = match.index + match[0].length;
  }
  nodes.push(text.slice(last));
  return nodes;
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "undefined");
}

export function JsonView({ value, label, raw = false }: { value: unknown; label: string; raw?: boolean }) {
  const [whole, setWhole] = useState(false);
  const text = useMemo(() => asText(value), [value]);
  const shown = whole ? text : text.slice(0, SHOWN_CHARACTERS_MAX);
  const plain = raw || typeof value === "string";
  const nodes = useMemo(() => (plain ? shown : coloured(shown)), [shown, plain]);
  return (
    <div className="json">
      <div className="json-copy">
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      <pre tabIndex={0} aria-label={label}>
        {nodes}
      </pre>
      {shown.length < text.length && (
        <button type="button" className="quiet-button" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString("en")} characters
        </button>
      )}
    </div>
  );
}
