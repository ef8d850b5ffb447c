// The oracle: asks the real npm package `ai`, in several releases, what it makes of our values.
//
// One JSON request a line on stdin, one JSON answer a line on stdout, in order. `sdk` names a release by
// its alias: "7" is the package installed as `ai7`, "5.0.0" the one installed as `ai500`. Packages are
// loaded when they are first asked for, from `node_modules` beside this file or from the folder that
// REJOINDER_ORACLE_MODULES names.
//
// Three kinds of answer: the value asked for; {"error", "name"} when the package refuses; {"failure"} when
// the question could not be put at all. What `undefined` holds vanishes by JSON: that is the level at which
// we compare.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const MODULES =
  process.env.REJOINDER_ORACLE_MODULES ?? join(dirname(fileURLToPath(import.meta.url)), 'node_modules');
const NEWLINE = 0x0a;
const MISMATCH = 'The value does not match its JSON schema.';

/** The question itself is at fault, not what it asks about. */
class Unanswerable extends Error {}

// --- packages ---------------------------------------------------------------------------------------

const loaded = new Map();

function load(name) {
  if (!loaded.has(name)) loaded.set(name, importFromModules(name));
  return loaded.get(name);
}

// `import(name)` would look beside this file only, so the entry point is read off the manifest.
async function importFromModules(name) {
  const folder = join(MODULES, name);
  let manifest;
  try {
    manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    throw new Unanswerable(`The npm package ${name} is not installed.`);
  }
  const door = manifest.exports?.['.'] ?? manifest.exports ?? manifest.main;
  const entry = typeof door === 'string' ? door : (door.import ?? door.default);
  return import(pathToFileURL(join(folder, typeof entry === 'string' ? entry : entry.default)).href);
}

function release(sdk) {
  if (typeof sdk !== 'string') throw new Unanswerable('A request names its release in "sdk", as text.');
  return load(`ai${sdk.replaceAll('.', '')}`);
}

/** What the question needs; without this check an omission would look like a refusal of the package. */
function needed(kind, request, name) {
  const value = request[name];
  const fits = kind === 'array' ? Array.isArray(value) : typeof value === kind;
  if (!fits) throw new Unanswerable(`"${request.do}" needs "${name}" to be ${kind === 'array' ? 'an' : 'a'} ${kind}.`);
  return value;
}

/** A function of the package, or a plain word that this release does not export it. */
function exported(ai, sdk, name) {
  if (ai[name] === undefined) throw new Unanswerable(`ai ${sdk} does not export ${name}.`);
  return ai[name];
}

// --- streams ----------------------------------------------------------------------------------------

async function drain(stream) {
  const reader = stream.getReader();
  let last;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return last;
    last = value;
  }
}

function bytesOf(text) {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

/** What the browser's transport makes of the body of a response. */
function receive(ai, sse) {
  return new ai.DefaultChatTransport({ api: '/' }).processResponseStream(bytesOf(sse));
}

// --- the questions ----------------------------------------------------------------------------------

async function fold(request) {
  const { sdk, onto } = request;
  const chunks = needed('array', request, 'chunks');
  const ai = await release(sdk);
  let message = null;
  await drain(
    ai.createUIMessageStream({
      originalMessages: onto == null ? [] : [onto],
      generateId: () => 'generated',
      execute: ({ writer }) => {
        for (const chunk of chunks) writer.write(chunk);
      },
      onFinish: ({ responseMessage }) => {
        message = responseMessage;
      },
    }),
  );
  return { message };
}

async function read(request) {
  const { sdk, onto } = request;
  const sse = needed('string', request, 'sse');
  const ai = await release(sdk);
  const messages = ai.readUIMessageStream({
    message: onto ?? undefined,
    stream: receive(ai, sse),
    terminateOnError: true,
  });
  return { message: (await drain(messages)) ?? null };
}

async function schema(request) {
  const chunks = needed('array', request, 'chunks');
  const ai = await release(request.sdk);
  const verdict = ai.uiMessageChunkSchema === undefined ? verdictOfTransport : verdictOfSchema;
  const results = [];
  for (const chunk of chunks) results.push(await verdict(ai, chunk));
  return { results };
}

async function verdictOfSchema(ai, chunk) {
  const held = ai.uiMessageChunkSchema;
  const { success, error } = await (typeof held === 'function' ? held() : held).validate(chunk);
  return success ? null : String(error.message);
}

// The first releases of version 5 keep the schema to themselves. Their transport applies it.
async function verdictOfTransport(ai, chunk) {
  try {
    await drain(receive(ai, `data: ${JSON.stringify(chunk)}\n\n`));
    return null;
  } catch (error) {
    return String(error.message);
  }
}

async function convert({ sdk, messages, options = {} }) {
  const ai = await release(sdk);
  const converted = await ai.convertToModelMessages(messages, {
    ignoreIncompleteToolCalls: options.ignoreIncompleteToolCalls ?? false,
    tools: options.tools ?? undefined,
    convertDataPart:
      options.convertDataPart === 'text'
        ? part => ({ type: 'text', text: JSON.stringify(part.data) })
        : undefined,
  });
  return { messages: converted };
}

async function validate({ sdk, messages, tools, dataSchemas, metadataSchema }) {
  const ai = await release(sdk);
  const validateMessages = exported(ai, sdk, 'safeValidateUIMessages');
  const { z } = await load('zod');
  const checked = written => (written == null ? undefined : checkedSchema(ai, z, written));
  const result = await validateMessages({
    messages,
    tools: mapped(tools, tool => ({
      inputSchema: checked(tool.inputSchema),
      outputSchema: checked(tool.outputSchema),
    })),
    dataSchemas: mapped(dataSchemas, checked),
    metadataSchema: checked(metadataSchema),
  });
  if (!result.success) throw result.error;
  return { messages: result.data };
}

function mapped(record, change) {
  if (record == null) return undefined;
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

// A validator of JSON Schema judges and changes nothing. Its own words differ from library to library, so
// the package gets one sentence and wraps it in the words that we compare.
function checkedSchema(ai, z, written) {
  const judge = z.fromJSONSchema(written);
  return ai.jsonSchema(written, {
    validate: value =>
      judge.safeParse(value).success ? { success: true, value } : { success: false, error: new Error(MISMATCH) },
  });
}

async function partial({ sdk, text }) {
  const ai = await release(sdk);
  const { value, state } = await ai.parsePartialJson(text ?? undefined);
  return { value, state };
}

/** What the parts of a model stream say in chunks (version 7 exports the function; 6 has it inside). */
async function parts(request) {
  const { sdk, options = {} } = request;
  const toUIMessageStream = exported(await release(sdk), sdk, 'toUIMessageStream');
  const given = needed('array', request, 'parts');
  const stream = new ReadableStream({
    start(controller) {
      for (const part of given) controller.enqueue(part);
      controller.close();
    },
  });
  const chunks = [];
  for await (const chunk of toUIMessageStream({ stream, ...options })) chunks.push(chunk);
  return { chunks };
}

const QUESTIONS = { fold, read, schema, convert, validate, partial, parts };

// --- the conversation -------------------------------------------------------------------------------

function requestOf(line) {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Unanswerable(`A request is one JSON object a line: ${error.message}`);
  }
}

async function answer(line) {
  try {
    const request = requestOf(line);
    const asked = request?.do;
    if (!Object.hasOwn(QUESTIONS, asked)) throw new Unanswerable(`Unknown question ${JSON.stringify(asked)}.`);
    return JSON.stringify(await QUESTIONS[asked](request));
  } catch (error) {
    if (error instanceof Unanswerable) return JSON.stringify({ failure: error.message });
    return JSON.stringify({ error: String(error?.message ?? error), name: String(error?.name ?? typeof error) });
  }
}

// Lines are split by hand: readline also splits at U+2028, which JSON allows inside a text.
async function* lines(input) {
  let pieces = [];
  for await (const block of input) {
    let from = 0;
    for (let at = block.indexOf(NEWLINE); at >= 0; at = block.indexOf(NEWLINE, from)) {
      pieces.push(block.subarray(from, at));
      yield Buffer.concat(pieces).toString('utf8');
      pieces = [];
      from = at + 1;
    }
    if (from < block.length) pieces.push(block.subarray(from));
  }
  if (pieces.length > 0) yield Buffer.concat(pieces).toString('utf8');
}

// A stream that fails may leave a promise behind that nobody waits for; the failure itself is answered.
process.on('unhandledRejection', () => {});
// Whoever asked has gone: there is nobody left to answer.
process.stdout.on('error', () => process.exit(0));
// The package may have advice for its users; stdout is for answers only.
globalThis.AI_SDK_LOG_WARNINGS = false;
for (const level of ['log', 'info', 'debug', 'warn', 'error']) console[level] = () => {};

for await (const line of lines(process.stdin)) {
  if (line.trim() !== '') process.stdout.write(`${await answer(line)}\n`);
}
