// Runs of `streamText` of the AI SDK, versions 5 to 7, with its own stand-in for a model: the parts of `fullStream`
// and the chunks of `toUIMessageStream`. Needs the packages in tests/oracle and Node 22 or later:
//
//     node tests/recordings/ai_sdk_runs.mjs

import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const oracle = createRequire(new URL('../oracle/package.json', import.meta.url));
const load = name => import(pathToFileURL(oracle.resolve(name)).href);
const { z } = await load('zod');

const EVENTS = new URL('../translate/events/', import.meta.url);
const USAGE = {
  inputTokens: { total: 20, noCache: 16, cacheRead: 4, cacheWrite: 0 },
  outputTokens: { total: 9, text: 6, reasoning: 3 },
};

// What the model says in one step, as a provider hands it to the SDK.
const finish = reason => ({ type: 'finish', finishReason: { unified: reason, raw: reason }, usage: USAGE });
const text = (id, ...deltas) => [
  { type: 'text-start', id },
  ...deltas.map(delta => ({ type: 'text-delta', id, delta })),
  { type: 'text-end', id },
];
const thought = (id, ...deltas) => [
  { type: 'reasoning-start', id },
  ...deltas.map(delta => ({ type: 'reasoning-delta', id, delta })),
  { type: 'reasoning-end', id, providerMetadata: { anthropic: { signature: 'signed' } } },
];
const call = (toolCallId, toolName, input, more = {}) => [
  { type: 'tool-input-start', id: toolCallId, toolName, ...more },
  { type: 'tool-input-delta', id: toolCallId, delta: input.slice(0, 4) },
  { type: 'tool-input-delta', id: toolCallId, delta: input.slice(4) },
  { type: 'tool-input-end', id: toolCallId },
  { type: 'tool-call', toolCallId, toolName, input, ...more },
];
const start = id => [
  { type: 'stream-start', warnings: [] },
  { type: 'response-metadata', id, modelId: 'stand-in', timestamp: new Date(0) },
];
const HOSTED = { providerExecuted: true, dynamic: true };
const source = { type: 'source', sourceType: 'url', id: 's1', url: 'https://example.com/paris', title: 'Paris' };

const RUNS = {
  tools: [
    [
      ...start('r1'),
      ...thought('0', 'Three ', 'calls.'),
      ...text('1', 'One ', 'moment.'),
      ...call('c1', 'weather', '{"city":"Paris"}'),
      ...call('c2', 'map', '{"city":"Oslo"}'),
      ...call('c3', 'weather', '{"town":"Rome"}'),
      finish('tool-calls'),
    ],
    [...start('r2'), ...thought('0', 'Enough.'), source, ...text('1', '18 degrees', ' in Paris.'), finish('stop')],
  ],
  hosted: [
    [
      ...start('r1'),
      ...call('h1', 'search', '{"query":"Paris"}', HOSTED),
      { type: 'tool-result', toolCallId: 'h1', toolName: 'search', result: { found: 1 }, ...HOSTED },
      source,
      { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
      ...text('0', 'Found.'),
      ...call('c1', 'count', '{"to":2}'),
      finish('tool-calls'),
    ],
    [...start('r2'), ...text('0', 'Counted.'), finish('stop')],
  ],
  approval: [
    [
      ...start('r1'),
      ...text('0', 'May I?'),
      ...call('c1', 'remove', '{"path":"a.txt"}'),
      ...call('c2', 'weather', '{"city":"Oslo"}'),
      finish('tool-calls'),
    ],
  ],
  fails: [[...start('r1'), { type: 'text-start', id: '0' }, { type: 'text-delta', id: '0', delta: 'It is' },
    { type: 'error', error: new Error('the model is gone') }, finish('error')]],
};

// A part as the providers of that version write it.
function written(part, version) {
  if (version === 7 && part.type === 'file') return { ...part, data: { type: 'data', data: part.data } };
  if (version === 5 && part.type === 'finish') {
    const usage = { inputTokens: 20, outputTokens: 9, totalTokens: 29, reasoningTokens: 3, cachedInputTokens: 4 };
    return { ...part, finishReason: part.finishReason.unified, usage };
  }
  return part;
}

function model(test, version, steps) {
  const Model = test.MockLanguageModelV4 ?? test.MockLanguageModelV3 ?? test.MockLanguageModelV2;
  let step = 0;
  return new Model({
    doStream: async () => ({
      stream: test.simulateReadableStream({ chunks: steps[step++].map(part => written(part, version)), initialDelayInMs: null, chunkDelayInMs: null }),
    }),
  });
}

const tools = tool => ({
  weather: tool({
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => ({ city, degrees: 18 }),
  }),
  map: tool({
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      throw new Error(`no map of ${city}`);
    },
  }),
  count: tool({
    inputSchema: z.object({ to: z.number() }),
    async *execute({ to }) {
      for (let number = 1; number <= to; number++) yield { number };
    },
  }),
  remove: tool({ inputSchema: z.object({ path: z.string() }), needsApproval: true, execute: async () => 'gone' }),
});

function plain(value) {
  return JSON.stringify(value, (key, item) =>
    item instanceof Error ? { name: item.name, message: item.message } : item,
  );
}

function keep(name, events) {
  writeFileSync(new URL(`${name}.jsonl`, EVENTS), events.map(event => plain(event) + '\n').join(''));
  console.log(`${name}: ${events.length} events`);
}

for (const version of [5, 6, 7]) {
  const ai = await load(`ai${version}`);
  const test = await load(`ai${version}/test`);
  const simulate = { ...test, simulateReadableStream: ai.simulateReadableStream };
  for (const [name, steps] of Object.entries(RUNS)) {
    if (version === 5 && (name === 'approval' || name === 'hosted')) continue; // it has no approvals, and no such calls
    const run = () =>
      ai.streamText({
        model: model(simulate, version, steps),
        prompt: '?',
        tools: tools(ai.tool),
        stopWhen: (ai.stepCountIs ?? ai.isStepCount)(3),
        onError: () => {},
      });
    const parts = [];
    for await (const part of run().fullStream) parts.push(part);
    keep(`ai_sdk_stream_${name}_${version}`, parts);
    const chunks = [];
    const told = run();
    const stream = told.toUIMessageStream({ sendSources: true, onError: error => String(error?.message ?? error) });
    for await (const chunk of stream) chunks.push(chunk);
    keep(`ai_sdk_ui_${name}_${version}`, chunks);
  }
}
