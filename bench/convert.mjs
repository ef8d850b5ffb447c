// One run of ai@7 over a file of UI messages: parse, validate, convert for a model, as a route handler does.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, path, rounds] = process.argv.slice(2);
const require = createRequire(modules + '/package.json');
const ai = await import(pathToFileURL(require.resolve('ai7')).href);
const text = readFileSync(path, 'utf8');

let best = Infinity;
let said = 0;
for (let round = 0; round < Number(rounds); round++) {
  const began = performance.now();
  const messages = await ai.validateUIMessages({ messages: JSON.parse(text) });
  said = (await ai.convertToModelMessages(messages)).length;
  best = Math.min(best, (performance.now() - began) / 1000);
}
console.log(JSON.stringify({ seconds: best, said }));
