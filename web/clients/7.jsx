// useChat of the AI SDK 7.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from "ai";
import { show } from "./page.jsx";

show("ai-sdk/7", ({ api, headers, id, messages, live }) =>
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
