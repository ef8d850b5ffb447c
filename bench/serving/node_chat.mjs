// ai@7 in Node as its documentation builds a chat that keeps its answers: `streamText`, read to its end whoever leaves
// (`consumeStream`), the messages stored `onEnd`. The model says when it said it.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { now, serve } from './node_server.mjs';

const [modules, port] = process.argv.slice(2);
const require = createRequire(modules + '/package.json');
const { convertToModelMessages, createUIMessageStreamResponse, streamText, toUIMessageStream } = await import(
  pathToFileURL(require.resolve('ai7')).href
);

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

const model = {
  specificationVersion: 'v4',
  provider: 'clock',
  modelId: 'clock',
  supportedUrls: {},
  async doStream({ prompt }) {
    const [count, pause] = prompt.at(-1).content[0].text.split(' ').map(Number);
    let number = -1;
    const stream = new ReadableStream({
      async pull(controller) {
        if (number < 0) {
          controller.enqueue({ type: 'stream-start', warnings: [] });
          controller.enqueue({ type: 'text-start', id: 't1' });
        } else if (number < count) {
          controller.enqueue({ type: 'text-delta', id: 't1', delta: now() + ' ' });
          if (pause) await sleep(pause);
        } else {
          controller.enqueue({ type: 'text-end', id: 't1' });
          controller.enqueue({ type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage });
          controller.close();
        }
        number += 1;
      },
    });
    return { stream };
  },
};

const chats = new Map();

serve(port, async ({ id, messages }) => {
  const result = streamText({ model, messages: await convertToModelMessages(messages) });
  result.consumeStream();
  return createUIMessageStreamResponse({
    stream: toUIMessageStream({
      stream: result.stream,
      originalMessages: messages,
      onEnd: (end) => chats.set(id, end.messages),
    }),
  });
});
