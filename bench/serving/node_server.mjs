// A server of Node's own around a function that answers the body of a request with a `Response`.
import { createServer } from 'node:http';

// The moment, on the clock that the clients have.
export const now = () => (Number(process.hrtime.bigint()) / 1e9).toFixed(6);

export function serve(port, answer) {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') {
      response.end();
      return;
    }
    let body = '';
    for await (const piece of request) body += piece;
    const { status, headers, body: stream } = await answer(JSON.parse(body));
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
}
