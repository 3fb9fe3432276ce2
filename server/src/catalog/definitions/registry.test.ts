import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crmId, registryDocument, warehouseId } from '../../../test/support/connector-registry.ts';
import { type VirtualRuntime, virtualRuntime } from '../../../test/support/virtual-time.ts';
import { createRegistry } from './registry.ts';

const hourMs = 3_600_000;

let directory: string;
let runtime: VirtualRuntime;
let logged: string[];
const log = () => pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'inlay-registry-'));
  runtime = virtualRuntime();
  logged = [];
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = (location: string) =>
  createRegistry({ location, cacheFile: join(directory, 'kept.json'), runtime, log: log() });
const renamed = (name: string) =>
  JSON.stringify({ ...registryDocument, sources: [{ ...registryDocument.sources[0], name }] });

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const away: Answer = ({ socket }) => void socket.destroy();
/** More than may be, in pieces, without saying how much. */
const endless: Answer = (_, response) => {
  const chunk = Buffer.alloc(1_000_000, 0x20);
  const feed = () => {
    while (!response.destroyed && response.write(chunk)) {}
  };
  response.on('drain', feed);
  feed();
};

describe('A registry at a URL', () => {
  let url: string;
  let requests: IncomingMessage[];
  let answer: Answer;
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  const give = (body: string, etag?: string) => {
    answer = (request, response) => {
      if (etag !== undefined && request.headers['if-none-match'] === etag) return void response.writeHead(304).end();
      response.writeHead(200, etag === undefined ? {} : { etag }).end(body);
    };
  };

  beforeEach(async () => {
    requests = [];
    give(JSON.stringify(registryDocument), '"one"');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/registry.json`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is read when first wanted, once for all who want it, and then kept', async () => {
    const registry = open(url);
    expect(requests).toHaveLength(0);
    const [sources, destinations] = await Promise.all([registry.list('source'), registry.list('destination')]);
    await registry.list('source');
    expect(requests).toHaveLength(1);
    expect(sources).toMatchObject([
      {
        id: crmId,
        kind: 'source',
        name: 'CRM',
        version: '1.2.3',
        dockerRepository: 'example/source-crm',
        icon: 'https://icons.example/crm.svg',
        supportLevel: 'certified',
        custom: false,
        suggestedStreams: ['contacts'],
        specification: registryDocument.sources[0]?.spec,
      },
    ]);
    expect(destinations.map(({ id, icon, suggestedStreams }) => [id, icon, suggestedStreams])).toEqual([
      [warehouseId, null, []],
    ]);
  });

  it('is asked again after an hour, and costs little when it is the same', async () => {
    const registry = open(url);
    const before = await registry.list('source');
    runtime.advance(hourMs - 1);
    await registry.list('source');
    expect(requests).toHaveLength(1);
    runtime.advance(1);
    expect((await registry.list('source'))[0], 'the very same').toBe(before[0]);
    expect(requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"']);
    give(renamed('CRM 2'), '"two"');
    runtime.advance(hourMs);
    expect((await registry.list('source'))[0]?.name).toBe('CRM 2');
  });

  it.each<[string, Answer]>([
    ['cannot be reached', away],
    ['is broken JSON', (_, response) => response.end('{"sources": [')],
    ['is no registry', (_, response) => response.end('{"sources": []}')],
    ['answers with an error', (_, response) => response.writeHead(503).end()],
    ['leads elsewhere', (_, response) => response.writeHead(302, { location: '/elsewhere' }).end()],
    ['is too large', endless],
    [
      'breaks off',
      ({ socket }, response) => {
        response.writeHead(200, { 'content-length': 999 });
        response.write('{', () => socket.destroy());
      },
    ],
  ])('that %s is reported as unavailable, or an older copy serves on', async (_what, fail) => {
    const registry = open(url);
    const good = await registry.list('source');
    runtime.advance(hourMs);
    answer = fail;
    expect(await registry.list('source')).toEqual(good);
    expect(logged.join()).toContain('cached copy');

    rmSync(join(directory, 'kept.json'));
    await expect(open(url).list('source')).rejects.toThrow('definitions_unavailable');
    expect(
      requests.every((request) => !request.url?.includes('elsewhere')),
      'redirects are not followed',
    ).toBe(true);
  });

  it('is left alone for a while after a failure', async () => {
    answer = away;
    const registry = open(url);
    for (let i = 0; i < 5; i++) await expect(registry.list('source')).rejects.toThrow('definitions_unavailable');
    expect(requests).toHaveLength(1);
    give(JSON.stringify(registryDocument));
    runtime.advance(30_000);
    expect(await registry.list('source')).toHaveLength(1);
  });

  it('survives a restart during its outage, and is asked first when it is back', async () => {
    const before = await open(url).list('source');
    expect(((await stat(join(directory, 'kept.json'))).mode & 0o777).toString(8)).toBe('600');
    answer = away;
    const restarted = open(url);
    expect(await restarted.list('source')).toEqual(before);
    give(renamed('CRM 2'), '"two"');
    runtime.advance(30_000);
    expect((await restarted.list('source'))[0]?.name).toBe('CRM 2');
    expect(await readdir(directory), 'no drafts are left').toEqual(['kept.json']);
  });

  it('after a restart is not sent again when it is the same', async () => {
    await open(url).list('source');
    expect(await open(url).list('destination')).toHaveLength(1);
    expect(requests.at(-1)?.headers['if-none-match']).toBe('"one"');
  });

  it('does not serve for another, nor from a kept file that is damaged', async () => {
    await open(url).list('source');
    answer = away;
    await expect(open(`${url}?other`).list('source')).rejects.toThrow('definitions_unavailable');
    writeFileSync(join(directory, 'kept.json'), '{"location":');
    await expect(open(url).list('source')).rejects.toThrow('definitions_unavailable');
    give(JSON.stringify(registryDocument));
    expect(await open(url).list('source')).toHaveLength(1);
    expect(await readFile(join(directory, 'kept.json'), 'utf8')).toContain('"CRM"');
  });
});

describe('A registry in a file', () => {
  it('is read again when the file changes', async () => {
    const file = join(directory, 'registry.json');
    writeFileSync(file, JSON.stringify(registryDocument));
    const registry = open(file);
    expect((await registry.list('source'))[0]?.name).toBe('CRM');
    writeFileSync(file, renamed('CRM from file'));
    utimesSync(file, 1, 1);
    runtime.advance(60_000);
    expect((await registry.list('source'))[0]?.name).toBe('CRM from file');
    expect(await readdir(directory), 'a file needs no copy').toEqual(['registry.json']);
  });

  it('that is not there is reported as unavailable', async () => {
    await expect(open(join(directory, 'nowhere.json')).list('source')).rejects.toThrow('definitions_unavailable');
    expect(logged.join()).toContain('ENOENT');
  });
});

describe('An entry of a registry', () => {
  const entry = registryDocument.sources[0];
  const list = async (...sources: unknown[]) => {
    const file = join(directory, 'registry.json');
    writeFileSync(file, JSON.stringify({ sources, destinations: [] }));
    return await open(file).list('source');
  };

  it('is left out when it is withdrawn, has no id of its own, or does not say how to configure it', async () => {
    const broken = [
      { ...entry, tombstone: true },
      { ...entry, sourceDefinitionId: 'x' },
      { ...entry, sourceDefinitionId: undefined },
      { ...entry, spec: null },
      { ...entry, spec: { connectionSpecification: [] } },
      null,
      7,
    ];
    expect(await list(...broken, entry)).toHaveLength(1);
  });

  it('has an icon only at an address of the web, and comes in the order of names', async () => {
    const other = { ...entry, sourceDefinitionId: warehouseId, name: 'Accounts', iconUrl: 'javascript:alert(1)' };
    expect((await list(entry, other)).map(({ name, icon }) => [name, icon])).toEqual([
      ['Accounts', null],
      ['CRM', 'https://icons.example/crm.svg'],
    ]);
  });
});
