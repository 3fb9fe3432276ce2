/** Sources with addresses of the operator's own machine and network, in every spelling, sent through the API. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../scripts/disposable.mjs';
import { isLongRun } from '../../../scripts/long-run.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import {
  type Customer,
  customer,
  fileSource,
  httpApi,
  makeConnectionTemplate,
  makeSourceTemplate,
  postgresSource,
} from '../support/pipelines.ts';

const hosts = ['127.0.0.1', '127.1', '0x7f.1', '2130706433', '0.0.0.0', 'localhost', '169.254.169.254'];
const ipv6 = ['[::1]', '[::ffff:7f00:1]', '[::ffff:169.254.169.254]'];
const every = [...hosts, ...ipv6];
/** The source of files fetches as the source of HTTP APIs does. A short run tries one spelling of each kind with it. */
const someOf = (what: string) =>
  what === 'a file' && !isLongRun ? ['127.1', 'localhost', '169.254.169.254', '[::ffff:7f00:1]'] : every;
const refusal = /The host .* is not on the public internet\./;

describe('With INLAY_ALLOW_PRIVATE_NETWORKS=false', () => {
  let test: TestApp;
  let acme: Customer;
  let web: Server;
  let database: TcpServer;
  let reached = 0;

  beforeAll(async () => {
    test = await startTestApp('sqlite', { env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'false' } });
    acme = await customer(test, 'acme');
    web = createServer((_request, response) => {
      reached++;
      response.end('[]');
    });
    database = createTcpServer((socket) => {
      reached++;
      socket.destroy();
    });
    for (const server of [web, database]) await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  });
  afterAll(async () => {
    await test.stop();
    for (const server of [web, database]) await new Promise((resolve) => server.close(resolve));
  });

  const portOf = (server: TcpServer) => (server.address() as AddressInfo).port;
  const cases: [string, string, (host: string) => object][] = [
    [
      'an HTTP API',
      httpApi,
      (host) => ({
        base_url: `http://${host}:${portOf(web)}`,
        authentication: { type: 'none' },
        streams: [{ name: 'things', path: '/things' }],
      }),
    ],
    [
      'a file',
      fileSource,
      (host) => ({
        location: { type: 'url', url: `http://${host}:${portOf(web)}/a.csv` },
        format: { type: 'csv' },
        stream_name: 'a',
      }),
    ],
    [
      'a PostgreSQL database',
      postgresSource,
      (host) => ({
        host: host.replace(/^\[(.*)\]$/, '$1'),
        port: portOf(database),
        database: 'd',
        username: 'u',
        password: 'p',
      }),
    ],
  ];

  it.each(cases)(
    'a check of %s refuses this machine and its network, and says why',
    async (what, definition, config) => {
      const template = await makeSourceTemplate(test, { actor_definition_id: definition, partial_default_config: {} });
      const tried = someOf(what);
      const outcomes = await Promise.all(tried.map((host) => acme.check(template, config(host))));
      for (const [index, { status, error_message }] of outcomes.entries()) {
        expect([status, error_message], tried[index]).toEqual(['failed', expect.stringMatching(refusal)]);
      }
      expect(reached).toBe(0);
    },
  );

  it('a source that is saved without a check reaches nothing either', async () => {
    const [, definition, config] = cases[0] as (typeof cases)[number];
    const template = await makeSourceTemplate(test, { actor_definition_id: definition, partial_default_config: {} });
    await makeConnectionTemplate(test);
    const id = await acme.connect(template, { source_config: config('127.1') });
    expect(await acme.settled(id)).toMatchObject({
      status: 'failed',
      status_message: expect.stringMatching(refusal),
    });
    expect(reached).toBe(0);
  });
});

describe('With private networks allowed', () => {
  let test: TestApp;
  let acme: Customer;
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    test = await startTestApp('sqlite', { env: { PORT: String(port) } });
    await test.app.listen();
    acme = await customer(test, 'acme');
  });
  afterAll(() => test.stop());

  it('a source reaches another program on this machine, and never the service itself', async () => {
    const asked: string[] = [];
    const other = createServer((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/away') response.writeHead(302, { location: `http://localhost:${port}/health/live` }).end();
      else response.end('[]');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port: otherPort } = other.address() as AddressInfo;
    try {
      const template = await makeSourceTemplate(test, { actor_definition_id: httpApi, partial_default_config: {} });
      const check = (base_url: string, path: string) =>
        acme.check(template, { base_url, authentication: { type: 'none' }, streams: [{ name: 'things', path }] });
      const itself = /The host .* at port \d+ is Inlay itself\./;
      const [reached, direct, mapped, redirected] = await Promise.all([
        check(`http://127.0.0.1:${otherPort}`, '/things'),
        check(`http://127.0.0.1:${port}`, '/health/live'),
        check(`http://[::ffff:127.0.0.1]:${port}`, '/health/live'),
        check(`http://127.0.0.1:${otherPort}`, '/away'),
      ]);
      expect(reached.status).toBe('succeeded');
      for (const { status, error_message } of [direct, mapped, redirected]) {
        expect([status, error_message]).toEqual(['failed', expect.stringMatching(itself)]);
      }
      expect(asked.toSorted()).toEqual(['/away', '/things']);
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });
});
