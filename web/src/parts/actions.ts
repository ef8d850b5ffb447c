// What a person can do to a message: given once by the conversation, used by the parts that ask something.
import { createContext, useContext } from "react";

export type Actions = {
  approve(id: string, approved: boolean, reason?: string): void;
  answer(toolCallId: string, answer: { output: unknown } | { errorText: string }): void;
};

export const ActionsContext = createContext<Actions>({ approve: () => undefined, answer: () => undefined });

export const useActions = () => useContext(ActionsContext);
