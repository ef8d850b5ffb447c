// ai@7 in Node, the least that streams: chunks written by hand through createUIMessageStreamResponse, and kept nowhere.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { now, serve } from './node_server.mjs';

const [modules, port] = process.argv.slice(2);
const require = createRequire(modules + '/package.json');
const { createUIMessageStream, createUIMessageStreamResponse } = await import(
  pathToFileURL(require.resolve('ai7')).href
);

serve(port, ({ messages }) => {
  const [count, pause] = messages.at(-1).parts[0].text.split(' ').map(Number);
  const stream = createUIMessageStream({
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
  return createUIMessageStreamResponse({ stream });
});
