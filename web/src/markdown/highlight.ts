// The highlighter, loaded when the first code block is shown. It answers with values, never with HTML.
import { common, createLowlight } from "lowlight";

const lowlight = createLowlight(common);

export type Highlighted = string | { className: string; children: Highlighted[] };

type Node = ReturnType<typeof lowlight.highlight>["children"][number];

function simple(node: Node): Highlighted {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return "";
  const names = node.properties.className;
  return {
    className: Array.isArray(names) ? names.join(" ") : "",
    children: node.children.map((child) => simple(child as Node)),
  };
}

/** The coloured code, or nothing for a language that the highlighter does not know. */
export function highlight(code: string, language: string): Highlighted[] | null {
  return lowlight.registered(language) ? lowlight.highlight(language, code).children.map(simple) : null;
}
