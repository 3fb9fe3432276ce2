/** Clients that go away in the middle of a request. That is no fault of the service, so it logs no error. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';

let test: TestApp;
let port: number;
let onBody = () => {};
const lines: { level: number; msg: string }[] = [];
const debug = 20;

beforeAll(async () => {
  const log = pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) });
  test = await startTestApp('sqlite', { overrides: { log } });
  test.app.http.server.on('request', (request: IncomingMessage) => request.once('resume', () => onBody()));
  await test.app.http.listen({ host: '127.0.0.1', port: 0 });
  port = (test.app.http.server.address() as AddressInfo).port;
});
afterAll(() => test.stop());

it.each([
  ['a body of known length', 'Content-Length: 1000', '{"workspace_name":'],
  ['a body in chunks', 'Transfer-Encoding: chunked', '5\r\n{"wor\r\n'],
  ['a body of which nothing has come', 'Content-Length: 1000', ''],
])('%s that breaks off is reported in the log for debugging, and nowhere else', async (_what, header, sent) => {
  const before = lines.length;
  const isBeingRead = new Promise<void>((resolve) => {
    onBody = resolve;
  });
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `POST /api/v1/embedded/scoped-token HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${test.operatorToken}\r\n` +
      `Content-Type: application/json\r\n${header}\r\n\r\n${sent}`,
  );
  await isBeingRead;
  socket.resetAndDestroy();
  const messages = () => lines.slice(before).map(({ level, msg }) => [level, msg]);
  await expect.poll(messages).toEqual([[debug, expect.stringMatching(/^Client disconnected/)]]);
});
