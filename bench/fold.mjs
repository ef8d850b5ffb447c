// One run of ai@7 over a file of events: decode, accumulate, encode, as its own server and client do it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, path] = process.argv.slice(2);
const require = createRequire(modules + '/package.json');
const ai = await import(pathToFileURL(require.resolve('ai7')).href);
const { parseJsonEventStream } = await import(
  pathToFileURL(createRequire(require.resolve('ai7')).resolve('@ai-sdk/provider-utils')).href
);

const bytes = readFileSync(path);

async function run() {
  const began = performance.now();
  let written = 0;
  let message;
  const source = new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 16384) controller.enqueue(bytes.subarray(at, at + 16384));
      controller.close();
    },
  });
  const chunks = parseJsonEventStream({ stream: source, schema: ai.uiMessageChunkSchema }).pipeThrough(
    new TransformStream({
      transform(result, controller) {
        if (!result.success) throw result.error;
        controller.enqueue(result.value);
      },
    }),
  );
  const folded = ai.createUIMessageStream({
    execute: ({ writer }) => writer.merge(chunks),
    onFinish: ({ responseMessage }) => (message = responseMessage),
  });
  const encoded = folded.pipeThrough(new ai.JsonToSseTransformStream()).pipeThrough(new TextEncoderStream());
  for await (const piece of encoded) written += piece.length;
  return { seconds: (performance.now() - began) / 1000, written, parts: message.parts.length };
}

if (process.argv[4] === 'warm') await run();
console.log(JSON.stringify(await run()));
