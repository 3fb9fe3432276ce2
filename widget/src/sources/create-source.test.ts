import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createApi } from '../api/api.ts';
import { createSession } from '../api/session.ts';
import { createSource, Unconfirmed } from './create-source.ts';

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
});

async function apiOf(listener: RequestListener) {
  server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server?.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return createApi(
    createSession('t', () => {}),
    `http://127.0.0.1:${port}/widget`,
  );
}

const { signal } = new AbortController();
const request = { source_template_id: 'template', name: 'Shop' };
const listed = (id: string, name = 'Shop') => ({ id, name, summarized_source_template: { id: 'template' } });

/** A service that loses the answer to a create, and then has these sources. */
const losing =
  (sources: object[]): RequestListener =>
  ({ method, url, socket }, response) => {
    if (method === 'POST') socket.destroy();
    else if (url?.endsWith('/sources')) response.end(JSON.stringify({ data: sources }));
    else response.end(JSON.stringify({ id: url?.split('/').at(-1) }));
  };

it('finds the source whose creation was not confirmed', async () => {
  const api = await apiOf(losing([listed('old'), listed('new')]));
  expect(await createSource(api, request, ['old'], signal)).toEqual({ id: 'new' });
});

it('takes no other source for it', async () => {
  const api = await apiOf(losing([listed('old'), listed('other', 'Another')]));
  await expect(createSource(api, request, ['old'], signal)).rejects.toBeInstanceOf(Unconfirmed);
});

it('does not know when the list cannot be had either', async () => {
  const api = await apiOf((_request, response) => response.socket?.destroy());
  await expect(createSource(api, request, [], signal)).rejects.toBeInstanceOf(Unconfirmed);
});

it('says what the service says when it was refused', async () => {
  const api = await apiOf((_request, response) => response.writeHead(429).end('{}'));
  await expect(createSource(api, request, [], signal)).rejects.toMatchObject({ kind: 'rate_limited' });
});
