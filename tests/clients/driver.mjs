// Real chat clients, told what to do: AbstractChat and DefaultChatTransport of several releases of `ai`.
//
// One JSON command a line on stdin, one JSON answer a line on stdout. A chat is made by `new`, named, and stays;
// what a command begins goes on by itself, and `settle` waits until the client has come to rest. Packages are loaded
// as the oracle loads them, from the folder that REJOINDER_ORACLE_MODULES names.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const MODULES = process.env.REJOINDER_ORACLE_MODULES;
const REST_MS = 30; // a client that submits again does so within a few ticks; this is many
const ROUNDS_MAX = 400;

const loaded = new Map();

function load(name) {
  if (!loaded.has(name)) loaded.set(name, importFromModules(name));
  return loaded.get(name);
}

async function importFromModules(name) {
  const folder = join(MODULES, name);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const door = manifest.exports?.['.'] ?? manifest.exports ?? manifest.main;
  const entry = typeof door === 'string' ? door : (door.import ?? door.default);
  return import(pathToFileURL(join(folder, typeof entry === 'string' ? entry : entry.default)).href);
}

/** What a UI framework would keep for a chat. */
class State {
  constructor(messages) {
    this.status = 'ready';
    this.error = undefined;
    this.messages = messages;
  }
  pushMessage = message => {
    this.messages = [...this.messages, message];
  };
  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index, message) => {
    this.messages = [...this.messages.slice(0, index), structuredClone(message), ...this.messages.slice(index + 1)];
  };
  snapshot = value => structuredClone(value);
}

const chats = new Map();

async function make({ name, sdk, api, id, headers = {}, messages = [], tools = {}, auto, lastOnly, socket }) {
  const ai = await load(`ai${sdk.replaceAll('.', '')}`);
  const requests = [];
  const counting = async (url, options) => {
    const response = await fetch(url, options);
    requests.push({ method: options?.method ?? 'GET', status: response.status });
    return response;
  };
  const transport = socket ? overSocket(ai, api, headers, requests, lastOnly) : new ai.DefaultChatTransport({
    api,
    headers,
    fetch: counting,
    ...(lastOnly && {
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
        body: { id, message: messages.at(-1), trigger, messageId },
      }),
    }),
  });
  const state = new State(messages);
  class Chat extends ai.AbstractChat {}
  const chat = new Chat({
    id,
    state,
    transport,
    onError: () => {},
    ...(auto === 'tools' && { sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithToolCalls }),
    ...(auto === 'approvals' && { sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses }),
    onToolCall: ({ toolCall }) => {
      if (!(toolCall.toolName in tools)) return;
      const output = { tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output: tools[toolCall.toolName] };
      // Not awaited: the chat would wait for itself.
      if (chat.addToolOutput) chat.addToolOutput(output);
      else chat.addToolResult(output);
    },
  });
  chats.set(name, { chat, state, requests, pending: new Set() });
  return {};
}

/** The transport of release 7 for WebSockets. What it asks for is counted like requests. */
function overSocket(ai, api, headers, requests, lastOnly) {
  class Counted extends ai.WebSocketChatTransport {
    sendMessages(options) {
      requests.push({ method: 'send' });
      return super.sendMessages(options);
    }
  }
  return new Counted({
    url: `${api}/ws`,
    headers,
    ...(lastOnly && { prepareSendMessagesRequest: ({ messages }) => ({ messages: messages.slice(-1) }) }),
  });
}

function begin(entry, promise) {
  const settled = promise.catch(() => {}).finally(() => entry.pending.delete(settled));
  entry.pending.add(settled);
  return {};
}

const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

/** Come back when nothing is under way and nothing begins any more. */
async function settle(entry) {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    await Promise.all(entry.pending);
    const before = entry.requests.length;
    await pause(REST_MS);
    const busy = entry.chat.status === 'submitted' || entry.chat.status === 'streaming';
    if (!busy && entry.pending.size === 0 && entry.requests.length === before) return look(entry);
  }
  return { failure: 'the client never came to rest', ...look(entry) };
}

function look({ chat, state, requests }) {
  return { status: chat.status, error: state.error?.message, messages: state.messages, requests };
}

async function waitFor(entry, test) {
  for (let round = 0; round < ROUNDS_MAX * 10; round++) {
    if (test()) return look(entry);
    await pause(5);
  }
  return { failure: 'it never came to that', ...look(entry) };
}

const textOf = message =>
  (message?.parts ?? []).map(part => (part.type === 'text' ? part.text : '')).join('');

const commands = {
  send: (entry, { text, messageId, parts }) =>
    begin(entry, entry.chat.sendMessage(parts ? { parts, messageId } : { text, messageId })),
  submit: entry => begin(entry, entry.chat.sendMessage()),
  regenerate: (entry, { messageId }) => begin(entry, entry.chat.regenerate({ messageId })),
  resume: entry => begin(entry, entry.chat.resumeStream()),
  // Version 5 adds a replay to what it has: whoever asks for all of an answer drops what came of it first.
  drop: entry => {
    if (entry.state.messages.at(-1)?.role === 'assistant') entry.state.popMessage();
    return {};
  },
  stop: entry => begin(entry, Promise.resolve(entry.chat.stop())),
  approve: (entry, { id, approved, reason }) =>
    begin(entry, Promise.resolve(entry.chat.addToolApprovalResponse({ id, approved, reason }))),
  output: (entry, { tool, toolCallId, output }) =>
    begin(
      entry,
      Promise.resolve((entry.chat.addToolOutput ?? entry.chat.addToolResult)({ tool, toolCallId, output })),
    ),
  settle,
  look,
  heard: (entry, { text }) => waitFor(entry, () => textOf(entry.state.messages.at(-1)).includes(text)),
};

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const command = JSON.parse(line);
    if (command.do === 'new') answer = await make(command);
    else {
      const entry = chats.get(command.name);
      answer = await commands[command.do](entry, command);
    }
  } catch (error) {
    answer = { failure: String(error?.stack ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);
