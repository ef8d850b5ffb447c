// useChat of the AI SDK 6.
import { useChat } from "react-6";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from "ai-6";
import { show } from "./page.jsx";

show("ai-sdk/6", ({ api, headers, id, messages, live }) =>
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
    sendAutomaticallyWhen: (state) => lastAssistantMessageIsCompleteWithToolCalls(state) || lastAssistantMessageIsCompleteWithApprovalResponses(state),
  }),
);
