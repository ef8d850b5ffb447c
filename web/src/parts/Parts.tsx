// The parts of a message, in their order; neighbours of a kind that belong together stand together.
import { isToolUIPart, type UIMessage } from "ai";
import { memo, useRef, type ReactNode } from "react";
import { Markdown } from "../markdown/Markdown";
import { Attachment } from "./Attachment";
import { DataPart } from "./DataPart";
import { Fold } from "./Fold";
import { JsonView } from "./JsonView";
import { Reasoning } from "./Reasoning";
import { Sources, type Source } from "./Sources";
import { ToolCall } from "./ToolCall";

type Part = UIMessage["parts"][number];

type Shown = { part: Part; live: boolean; newest: boolean; last: boolean };

function saysTheSame(old: Part, now: Part): boolean {
  const [before, after] = [Object.entries(old), now as { [name: string]: unknown }];
  return before.length === Object.keys(now).length && before.every(([name, value]) => Object.is(value, after[name]));
}

/**
 * The parts, each the same value for as long as it says the same. The AI SDK copies every part with every chunk, and
 * writes on into some that have been drawn already: so these are copies of our own.
 */
function useSettled(parts: Part[]): Part[] {
  const kept = useRef<Part[]>([]);
  kept.current = parts.map((part, index) => {
    const had = kept.current[index];
    return had && saysTheSame(had, part) ? had : { ...part };
  });
  return kept.current;
}

const OnePart = memo(function OnePart({ part, live, newest, last }: Shown): ReactNode {
  if (isToolUIPart(part)) return <ToolCall part={part} live={live} newest={newest} />;
  switch (part.type) {
    case "text":
      return part.text ? <Markdown text={part.text} /> : null;
    case "reasoning":
      return <Reasoning text={part.text} thinking={live && last && part.state !== "done"} />;
    case "file":
    case "reasoning-file":
      return <Attachment file={part} />;
    case "source-url":
    case "source-document":
    case "step-start":
      return null; // Sources stand together below; a step is not seen.
    default:
      if (part.type.startsWith("data-") && "data" in part) return <DataPart name={part.type.slice(5)} data={part.data} />;
      return (
        <Fold icon="custom" title={<code className="tool-name">{part.type}</code>} note="Part" open={false}>
          <JsonView value={part} label={part.type} />
        </Fold>
      );
  }
});

const isSource = (part: Part): part is Source => part.type === "source-url" || part.type === "source-document";

const keyOf = (part: Part, index: number) => (isToolUIPart(part) ? part.toolCallId : `${index}`);

export function Parts({ message, live, newest }: { message: UIMessage; live: boolean; newest: boolean }) {
  const parts = useSettled(message.parts);
  return (
    <>
      {parts.map((part, index) => (
        <OnePart
          key={keyOf(part, index)}
          part={part}
          live={live}
          newest={newest}
          last={index === parts.length - 1}
        />
      ))}
      <Sources sources={parts.filter(isSource)} />
    </>
  );
}
