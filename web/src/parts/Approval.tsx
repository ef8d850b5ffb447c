// The question whether a tool may run, and two buttons.
import { useState } from "react";
import { useActions } from "./actions";
import type { ToolPart } from "./ToolCall";

type Asking = Extract<ToolPart, { state: "approval-requested" }>;

export function Approval({ part, name, ready }: { part: Asking; name: string; ready: boolean }) {
  const { approve } = useActions();
  const [reason, setReason] = useState("");
  const [answered, setAnswered] = useState(false);
  const why = "requestReason" in part.approval ? part.approval.requestReason : undefined;
  const answer = (approved: boolean) => {
    setAnswered(true);
    approve(part.approval.id, approved, reason.trim() || undefined);
  };
  return (
    <form className="asks" onSubmit={(event) => event.preventDefault()} aria-label={`Approval of ${name}`}>
      <p>
        May <code>{name}</code> run with this input?{why ? ` ${why}` : ""}
      </p>
      <label className="field">
        <span>Reason (if you like)</span>
        <input value={reason} onChange={(event) => setReason(event.target.value)} maxLength={500} />
      </label>
      <div className="buttons">
        <button type="button" className="button primary" disabled={!ready || answered} onClick={() => answer(true)}>
          Approve
        </button>
        <button type="button" className="button" disabled={!ready || answered} onClick={() => answer(false)}>
          Deny
        </button>
      </div>
    </form>
  );
}
