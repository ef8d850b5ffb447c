// What the model thought: open while it thinks, folded when it speaks.
import { Markdown } from "../markdown/Markdown";
import { Fold } from "./Fold";

export function Reasoning({ text, thinking }: { text: string; thinking: boolean }) {
  if (!text && !thinking) return null;
  const words = text.split(/\s+/).filter(Boolean).length;
  return (
    <Fold
      icon="thought"
      title={thinking ? "Thinking" : "Thought"}
      note={thinking ? <span className="pulse" /> : `${words.toLocaleString("en")} ${words === 1 ? "word" : "words"}`}
      tone={thinking ? "busy" : "plain"}
      open={thinking}
    >
      <div className="reasoning">{text ? <Markdown text={text} /> : "…"}</div>
    </Fold>
  );
}
