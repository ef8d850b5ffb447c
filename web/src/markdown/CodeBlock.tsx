// A block of code: its language, a button to copy it, and colours that come when the highlighter has been loaded.
import { Fragment, memo, useEffect, useState, type ReactNode } from "react";
import { CopyButton } from "../shell/CopyButton";
import type { Highlighted } from "./highlight";

/** Longer code is shown without colours: they would take longer than reading its first lines. */
const HIGHLIGHT_CHARACTERS_MAX = 40_000;

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
  const [coloured, setColoured] = useState<{ of: string; nodes: Highlighted[] } | null>(null);
  useEffect(() => {
    if (!language || code.length > HIGHLIGHT_CHARACTERS_MAX) return;
    let gone = false;
    import("./highlight")
      .then(({ highlight }) => {
        const nodes = highlight(code, language);
        if (!gone && nodes) setColoured({ of: code, nodes });
      })
      .catch(() => undefined); // Without the highlighter the code is shown all the same.
    return () => {
      gone = true;
    };
  }, [code, language]);

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
          {shown ? colours(shown.nodes) : code}
          {shown && code.slice(shown.of.length)}
        </code>
      </pre>
    </figure>
  );
});
