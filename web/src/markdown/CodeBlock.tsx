// A block of code: its language, a button to copy it, and colours that come when the highlighter has been loaded.
import { Fragment, memo, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { CopyButton } from "../shell/CopyButton";
import type { Highlighted } from "./highlight";

/** Longer code is shown without colours: they would take longer than reading its first lines. */
const HIGHLIGHT_CHARACTERS_MAX = 40_000;

/** Colours take at most one part in so many of the time, however long the code that streams has become. */
const HIGHLIGHT_SHARE = 12;

function colours(nodes: Highlighted[]): ReactNode {
  return nodes.map((node, index) =>
    typeof node === "string" ? (
      <Fragment key={index}>{node}</Fragment>
    ) : (
      <span key={index} className={node.className}>
        {colours(node.children)}
      </span>
    ),
  );
}

export const CodeBlock = memo(function CodeBlock({ code, language }: { code: string; language: string }) {
  const [coloured, setColoured] = useState<{ of: string; nodes: Highlighted[]; began: number } | null>(null);
  const nextAt = useRef(0);
  useEffect(() => {
    if (!language || code.length > HIGHLIGHT_CHARACTERS_MAX) return;
    let gone = false;
    const colour = async () => {
      const { highlight } = await import("./highlight");
      if (gone) return;
      const began = performance.now();
      const nodes = highlight(code, language);
      if (nodes) setColoured({ of: code, nodes, began });
    };
    // Without the highlighter the code is shown all the same.
    const timer = setTimeout(() => void colour().catch(() => undefined), nextAt.current - performance.now());
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [code, language]);
  // Drawing the colours costs more than finding them, so it is counted as well.
  useEffect(() => {
    if (coloured) nextAt.current = performance.now() + HIGHLIGHT_SHARE * (performance.now() - coloured.began);
  }, [coloured]);
  const colouring = useMemo(() => coloured && colours(coloured.nodes), [coloured]);

  // While code streams, the coloured beginning stays coloured, and what came since is plain.
  const shown = coloured && code.startsWith(coloured.of) ? coloured : null;
  return (
    <figure className="code-block">
      <figcaption>
        <span>{language || "text"}</span>
        <CopyButton text={code} label="Copy code" />
      </figcaption>
      <pre tabIndex={0}>
        <code>
          {shown ? colouring : code}
          {shown && code.slice(shown.of.length)}
        </code>
      </pre>
    </figure>
  );
});
