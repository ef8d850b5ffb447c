// What the server is asked, and what it answers: the only file that knows its addresses.
import type { UIMessage } from "ai";

export const API = new URL("./api", document.baseURI).pathname;

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type ConversationSummary = { id: string; title?: string | null; createdAt: string; updatedAt: string };

/** Where a message stands: its place, the turn that wrote it, and the branches beside it. */
export type Place = {
  id: string;
  seq: number;
  createdAt?: string;
  status?: string;
  turnId?: string;
  parentId?: string;
  siblings?: string[];
};

export type Live = { turnId: string; messageId?: string };

export type ConversationPage = ConversationSummary & {
  messages: UIMessage[];
  places: Place[];
  before?: number | null;
  live?: Live | null;
};

/** The server's refusal, as it explains it. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    readonly fields: { [key: string]: Json } = {},
  ) {
    super(message);
  }
}

/** What a problem document or any other answer says to a person. */
export function problemOf(status: number, text: string): Problem {
  try {
    const fields = JSON.parse(text) as { [key: string]: Json };
    const detail = typeof fields.detail === "string" ? fields.detail : "";
    const title = typeof fields.title === "string" ? fields.title : "";
    const said = detail && title && !detail.startsWith(title) ? `${title}: ${detail}` : detail || title;
    return new Problem(status, String(fields.type ?? ""), said || `The server answered ${status}.`, fields);
  } catch {
    return new Problem(status, "", `The server answered ${status}.`);
  }
}

export type Query = { [name: string]: string | number | null | undefined };

export function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return `${API}${path}${text ? `?${text}` : ""}`;
}

export async function ask<T>(path: string, query: Query = {}, init: RequestInit = {}): Promise<T> {
  const response = await fetch(address(path, query), { credentials: "same-origin", ...init });
  if (!response.ok) throw problemOf(response.status, await response.text());
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

const json = (method: string, body: unknown): RequestInit => ({
  method,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

export const chatPath = (id: string, rest = "") => `/chat/${encodeURIComponent(id)}${rest}`;

export const listConversations = (query: { search?: string; before?: string; limit?: number }, signal?: AbortSignal) =>
  ask<{ conversations: ConversationSummary[]; before?: string | null }>("/conversations", query, { signal });

export const readConversation = (id: string, query: { before?: number; limit?: number } = {}, signal?: AbortSignal) =>
  ask<ConversationPage>(chatPath(id), query, { signal });

export const renameConversation = (id: string, title: string) =>
  ask<unknown>(chatPath(id), {}, json("PATCH", { title }));

export const chooseBranch = (id: string, branch: string) => ask<unknown>(chatPath(id), {}, json("PATCH", { branch }));

export const deleteConversation = (id: string) => ask<unknown>(chatPath(id), {}, { method: "DELETE" });

export const deleteMessage = (id: string, message: string) =>
  ask<unknown>(chatPath(id, `/messages/${encodeURIComponent(message)}`), {}, { method: "DELETE" });

export const stopTurn = (id: string) => ask<unknown>(chatPath(id, "/stop"), {}, { method: "POST" });
