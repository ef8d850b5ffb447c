// ai@7 in Node: a server of its own that streams chunks through createUIMessageStreamResponse.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

const [modules, port] = process.argv.slice(2);
const require = createRequire(modules + '/package.json');
const { createUIMessageStream, createUIMessageStreamResponse } = await import(
  pathToFileURL(require.resolve('ai7')).href
);

const now = () => (Number(process.hrtime.bigint()) / 1e9).toFixed(6);

function answer(prompt) {
  const [count, pause] = prompt.split(' ').map(Number);
  return createUIMessageStream({
    execute: async ({ writer }) => {
      writer.write({ type: 'start', messageId: 'm1' });
      writer.write({ type: 'start-step' });
      writer.write({ type: 'text-start', id: 't1' });
      for (let number = 0; number < count; number += 1) {
        writer.write({ type: 'text-delta', id: 't1', delta: now() + ' ' });
        if (pause) await sleep(pause);
      }
      writer.write({ type: 'text-end', id: 't1' });
      writer.write({ type: 'finish-step' });
      writer.write({ type: 'finish' });
    },
  });
}

const server = createServer(async (request, response) => {
  if (request.method !== 'POST') {
    response.end();
    return;
  }
  let body = '';
  for await (const piece of request) body += piece;
  const prompt = JSON.parse(body).messages.at(-1).parts[0].text;
  const { status, headers, body: stream } = createUIMessageStreamResponse({ stream: answer(prompt) });
  response.writeHead(status, Object.fromEntries(headers));
  const reader = stream.getReader();
  response.on('close', () => reader.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!response.write(value) && !response.destroyed) {
      await new Promise((resume) => {
        response.once('drain', resume);
        response.once('close', resume);
      });
    }
  }
  response.end();
});
server.listen({ port: Number(port), host: '127.0.0.1', backlog: 4096 });
