// A whole chat: reads what is stored, goes on with an answer that is live, sends, and stops.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { useState } from "react";
import { createRoot } from "react-dom/client";

function Chat({ id, stored }) {
  const live = stored.live;
  const { messages, sendMessage, status } = useChat({
    id,
    messages: stored.messages,
    resume: live !== null,
    transport: new DefaultChatTransport({
      // The turn that was live when the messages were read: it may be over by now, and is told all the same.
      prepareReconnectToStreamRequest: () => ({ api: `/api/chat/${id}/stream?turn=${live.turnId}` }),
    }),
  });
  const [text, setText] = useState("");
  const send = (event) => {
    event.preventDefault();
    sendMessage({ text });
    setText("");
  };
  return (
    <main data-status={status}>
      {messages.map((message) => (
        <p key={message.id} data-role={message.role}>
          <b>{message.role}</b> {message.parts.map((part) => (part.type === "text" ? part.text : ""))}
        </p>
      ))}
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button>Send</button>
        <button type="button" onClick={() => fetch(`/api/chat/${id}/stop`, { method: "POST" })}>
          Stop
        </button>
      </form>
    </main>
  );
}

const id = new URLSearchParams(location.search).get("chat") ?? "first";
const answer = await fetch(`/api/chat/${id}`);
const stored = answer.ok ? await answer.json() : { messages: [], live: null };
createRoot(document.getElementById("root")).render(<Chat id={id} stored={stored} />);
