// useChat of the AI SDK 5.
import { useChat } from "react-5";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } from "ai-5";
import { show } from "./page.jsx";

show("ai-sdk/5", ({ api, headers, id, messages, live }) =>
  useChat({
    id,
    messages,
    resume: live !== null,
    transport: new DefaultChatTransport({
      api,
      headers,
      // Ask for the turn that was live when the messages were read: it may be over by now.
      prepareReconnectToStreamRequest: () => ({ api: `${api}/${id}/stream?turn=${live?.turnId}` }),
    }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
  }),
);
