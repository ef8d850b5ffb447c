// What the three pages have in common: no part of the AI SDK, just what a page makes of its messages.
import { useState } from "react";
import { createRoot } from "react-dom/client";

function Part({ part, chat }) {
  if (part.type === "text") return <p className="text">{part.text}</p>;
  if (part.type === "reasoning") return <p className="reasoning">{part.text}</p>;
  if (!part.type.startsWith("tool-")) return null;
  const tool = part.type.slice(5);
  return (
    <div className="tool" data-state={part.state}>
      {tool} {JSON.stringify(part.input)} {JSON.stringify(part.output)} {part.errorText}
      {part.state === "approval-requested" && (
        <>
          <button onClick={() => chat.addToolApprovalResponse({ id: part.approval.id, approved: true })}>Yes</button>
          <button onClick={() => chat.addToolApprovalResponse({ id: part.approval.id, approved: false })}>No</button>
        </>
      )}
      {part.state === "input-available" && tool === "locate" && (
        <button onClick={() => chat.addToolOutput({ tool, toolCallId: part.toolCallId, output: "Oslo" })}>Here</button>
      )}
    </div>
  );
}

function Page({ useConversation, given }) {
  const chat = useConversation(given);
  const [text, setText] = useState("");
  return (
    <main data-status={chat.status}>
      {chat.messages.map((message) => (
        <article key={message.id} data-role={message.role} data-message={message.id}>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} chat={chat} />
          ))}
        </article>
      ))}
      {chat.error && <p role="alert">{chat.error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          chat.sendMessage({ text });
          setText("");
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button>Send</button>
      </form>
      <button onClick={() => chat.stop()}>Leave</button>
      <button onClick={() => fetch(`${given.api}/${given.id}/stop`, { method: "POST" })}>Stop</button>
    </main>
  );
}

/** Reads what is stored, as any page does that is loaded again, and goes on from there. */
export async function show(dialect, useConversation) {
  const api = "/api/chat";
  const id = new URLSearchParams(location.search).get("chat");
  const stored = await fetch(`${api}/${id}`).then((answer) => (answer.ok ? answer.json() : { messages: [], live: null }));
  const given = { api, id, messages: stored.messages, live: stored.live, headers: { "x-rejoinder-dialect": dialect } };
  createRoot(document.getElementById("root")).render(<Page useConversation={useConversation} given={given} />);
}
