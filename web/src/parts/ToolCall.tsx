// A tool call from its first letter to its result: input, progress, output, and what it asks of the user.
import { getToolName, type DynamicToolUIPart, type ToolUIPart, type UITools } from "ai";
import { Approval } from "./Approval";
import { ClientTool, speaksForItself } from "./ClientTool";
import { Fold } from "./Fold";
import { JsonView } from "./JsonView";

export type ToolPart = ToolUIPart<UITools> | DynamicToolUIPart;

type Tone = "plain" | "busy" | "good" | "bad" | "asks";

/** What a call is doing, in words, and whether it is open while nobody has chosen. */
function standing(part: ToolPart, live: boolean, newest: boolean, asks: boolean): { note: string; tone: Tone; open: boolean } {
  switch (part.state) {
    case "input-streaming":
      return live ? { note: "Preparing", tone: "busy", open: true } : { note: "Unfinished", tone: "bad", open: false };
    case "input-available":
      if (asks) return { note: "Needs your answer", tone: "asks", open: true };
      return live ? { note: "Running", tone: "busy", open: false } : { note: "Not answered", tone: "plain", open: false };
    case "approval-requested":
      return newest
        ? { note: "Needs your approval", tone: "asks", open: true }
        : { note: "Not answered", tone: "plain", open: false };
    case "approval-responded":
      return part.approval.approved
        ? { note: "Approved", tone: live ? "busy" : "plain", open: false }
        : { note: "Denied", tone: "bad", open: false };
    case "output-available":
      return part.preliminary && live
        ? { note: "Running", tone: "busy", open: true }
        : { note: "Done", tone: "good", open: false };
    case "output-error":
      return { note: "Failed", tone: "bad", open: true };
    case "output-denied":
      return { note: "Denied", tone: "bad", open: false };
  }
}

export function ToolCall({ part, live, newest }: { part: ToolPart; live: boolean; newest: boolean }) {
  const asks = part.state === "input-available" && !part.providerExecuted && newest && !live;
  const { note, tone, open } = standing(part, live, newest, asks);
  const name = getToolName(part);
  const title = "title" in part && part.title ? part.title : name;
  return (
    <Fold
      key={asks || (newest && part.state === "approval-requested") ? "asks" : "tells"}
      icon="tool"
      title={<code className="tool-name">{title}</code>}
      note={
        <>
          {tone === "busy" && <span className="pulse" />}
          {note}
        </>
      }
      tone={tone}
      open={open}
    >
      {part.input !== undefined && !(asks && speaksForItself(part.input)) && (
        <div className="tool-side">
          <h4>Input</h4>
          <JsonView value={part.input} label="tool input" />
        </div>
      )}
      {part.state === "output-available" && (
        <div className="tool-side">
          <h4>{part.preliminary ? "So far" : "Output"}</h4>
          <JsonView value={part.output} label="tool output" />
        </div>
      )}
      {part.state === "output-error" && (
        <div className="tool-side">
          <h4>Error</h4>
          <p className="tool-error">{part.errorText}</p>
        </div>
      )}
      {(part.state === "output-denied" || part.state === "approval-responded") && part.approval.reason && (
        <div className="tool-side">
          <h4>Reason</h4>
          <p>{part.approval.reason}</p>
        </div>
      )}
      {part.state === "approval-requested" && newest && <Approval part={part} name={name} ready={!live} />}
      {asks && <ClientTool part={part} name={name} />}
    </Fold>
  );
}
