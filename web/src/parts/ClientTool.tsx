// A tool that the person at the page is: its question, and a form for the answer.
import { useState } from "react";
import { useActions } from "./actions";
import type { ToolPart } from "./ToolCall";

/** Under these names a tool's input usually holds the answers to choose from, and the question. */
const CHOICES = ["options", "choices", "suggestions"];
const QUESTIONS = ["question", "prompt", "message", "title"];

/** Whether the form shows all that the input says, so that the input need not be shown beside it. */
export const speaksForItself = (input: unknown) =>
  found(input, QUESTIONS, isText) !== undefined &&
  Object.keys(fields(input)).every((name) => QUESTIONS.includes(name) || CHOICES.includes(name));

const fields = (input: unknown): { [name: string]: unknown } =>
  input && typeof input === "object" && !Array.isArray(input) ? (input as { [name: string]: unknown }) : {};

function found<T>(input: unknown, names: string[], is: (value: unknown) => value is T): T | undefined {
  return names.map((name) => fields(input)[name]).find(is);
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.length > 0 && value.every(isText);

export function ClientTool({ part, name }: { part: ToolPart; name: string }) {
  const { answer } = useActions();
  const [text, setText] = useState("");
  const [asJson, setAsJson] = useState(false);
  const [problem, setProblem] = useState("");
  const [sent, setSent] = useState(false);
  const question = found(part.input, QUESTIONS, isText);
  const choices = found(part.input, CHOICES, isTexts);

  const send = (result: { output: unknown } | { errorText: string }) => {
    setSent(true);
    answer(part.toolCallId, result);
  };
  const submit = () => {
    if (!asJson) return send({ output: text });
    try {
      send({ output: JSON.parse(text) as unknown });
    } catch {
      setProblem("This is not JSON. Mend it, or send it as text.");
    }
  };
  return (
    <form
      className="asks"
      aria-label={`Answer for ${name}`}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <p>{question ?? "The agent waits for your answer."}</p>
      {choices && (
        <div className="buttons">
          {choices.map((choice) => (
            <button key={choice} type="button" className="button" disabled={sent} onClick={() => send({ output: choice })}>
              {choice}
            </button>
          ))}
        </div>
      )}
      <label className="field">
        <span>Answer</span>
        <textarea
          value={text}
          rows={2}
          aria-invalid={problem !== ""}
          onChange={(event) => {
            setText(event.target.value);
            setProblem("");
          }}
        />
      </label>
      {problem && (
        <p className="tool-error" role="alert">
          {problem}
        </p>
      )}
      <div className="buttons">
        <button type="submit" className="button primary" disabled={sent || text === ""}>
          Send answer
        </button>
        <button
          type="button"
          className="button"
          disabled={sent}
          onClick={() => send({ errorText: text.trim() || "The user did not answer." })}
        >
          Decline
        </button>
        <label className="check">
          <input type="checkbox" checked={asJson} onChange={(event) => setAsJson(event.target.checked)} /> as JSON
        </label>
      </div>
    </form>
  );
}
