import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createApi } from './api.ts';
import { createSession } from './session.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/below/widget?x=1`;
}

const { signal } = new AbortController();
const tokenOf = (request: IncomingMessage) => request.headers.authorization;

it('calls the API beside its own page with the token', async () => {
  const asked: unknown[] = [];
  const base = await serve((request, response) => {
    asked.push([request.method, request.url, tokenOf(request)]);
    response.end('{"data":[{"id":"1"}]}');
  });
  const api = createApi(
    createSession('first', () => {}),
    base,
  );
  expect(await api.listOffers(signal)).toEqual([{ id: '1' }]);
  expect(asked).toEqual([['GET', '/below/api/v1/embedded/source-templates', 'Bearer first']]);
});

it('sends nothing that would change anything while an operator only looks', async () => {
  const asked: unknown[] = [];
  const base = await serve((request, response) => {
    asked.push(request.method);
    response.end('{"data":[]}');
  });
  const api = createApi(
    createSession('first', () => {}),
    base,
    true,
  );
  await api.listSources(signal);
  for (const write of [
    () => api.startSync('1', signal),
    () => api.deleteSource('1', signal),
    () => api.request('POST /embedded/oauth/flows/{flow_id}/confirm', { ids: ['1'], signal }),
  ]) {
    await expect(write()).rejects.toMatchObject({ kind: 'only_view', isAmbiguous: false });
  }
  expect(asked).toEqual(['GET']);
});

it('asks once for a new token and repeats what was refused', async () => {
  const seen: unknown[] = [];
  const base = await serve((request, response) => {
    seen.push(tokenOf(request));
    response.statusCode = tokenOf(request) === 'Bearer second' ? 200 : 401;
    response.end('{"data":[]}');
  });
  let asked = 0;
  const session = createSession('first', () => {
    asked += 1;
    setImmediate(() => session.accept('second'));
  });
  const api = createApi(session, base);
  await Promise.all([api.listOffers(signal), api.listSources(signal)]);
  expect(asked).toBe(1);
  expect(session.isExpired()).toBe(false);
  expect(seen.sort()).toEqual(['Bearer first', 'Bearer first', 'Bearer second', 'Bearer second']);
});

it('gives up when the new token is refused as well', async () => {
  const base = await serve((_request, response) => response.writeHead(401).end('{}'));
  let asked = 0;
  const session = createSession('first', () => {
    asked += 1;
    setImmediate(() => session.accept('second'));
  });
  await expect(createApi(session, base).listOffers(signal)).rejects.toMatchObject({ kind: 'access_denied' });
  expect(asked).toBe(1);
});

it('waits for a token when it has none', async () => {
  const base = await serve((request, response) => response.end(JSON.stringify({ data: [tokenOf(request)] })));
  const session = createSession(undefined, () => setImmediate(() => session.accept('late')));
  expect(await createApi(session, base).listOffers(signal)).toEqual(['Bearer late']);
});

it('stops waiting for a token when nobody wants the answer any more', async () => {
  const base = await serve((_request, response) => response.writeHead(401).end('{}'));
  const leaving = new AbortController();
  const session = createSession('first', () => leaving.abort(new Error('left')));
  await expect(createApi(session, base).listOffers(leaving.signal)).rejects.toThrow('left');
});

it.each([
  [403, 'access_denied'],
  [404, 'not_found'],
  [409, 'conflict'],
  [429, 'rate_limited'],
  [500, 'unavailable'],
  [503, 'unavailable'],
])('reports %d as %s, and when to come back', async (status, kind) => {
  const base = await serve((_request, response) =>
    response.writeHead(status, { 'retry-after': '7' }).end('{"detail":"x"}'),
  );
  const api = createApi(
    createSession('t', () => {}),
    base,
  );
  await expect(api.listOffers(signal)).rejects.toMatchObject({ kind, retryAfterMs: 7000 });
});

it('reads from the headers which quota is reached', async () => {
  const detail = 'Any words.';
  const parameters = 'quota=rows_per_day; limit=3; until=2026-02-01T00:00:00.000Z';
  const headers = { 'x-inlay-error': 'quota_reached', 'x-inlay-error-parameters': parameters };
  const base = await serve((_request, response) => response.writeHead(409, headers).end(JSON.stringify({ detail })));
  const api = createApi(
    createSession('t', () => {}),
    base,
  );
  await expect(api.listOffers(signal)).rejects.toMatchObject({
    kind: 'limit_reached',
    quota: { quota: 'rows_per_day', limit: 3, until: '2026-02-01T00:00:00.000Z', text: detail },
  });
});

it('keeps the faults of a 422', async () => {
  const detail = [{ loc: ['body', 'name'], msg: 'too long', type: 'x' }];
  const base = await serve((_request, response) => response.writeHead(422).end(JSON.stringify({ detail })));
  const api = createApi(
    createSession('t', () => {}),
    base,
  );
  await expect(api.listOffers(signal)).rejects.toMatchObject({ kind: 'invalid', faults: detail });
});

it('sends a create once, even when its answer is lost', async () => {
  let sent = 0;
  const base = await serve((request) => {
    sent += 1;
    request.socket.destroy();
  });
  const api = createApi(
    createSession('t', () => {}),
    base,
  );
  await expect(api.createSource({ source_template_id: 'x' }, signal)).rejects.toMatchObject({
    kind: 'unreachable',
    isAmbiguous: true,
  });
  expect(sent).toBe(1);
});
