/* A customer's sign-in, from the API of the platform to the process of the connector: tokens end while it reads. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Asked, startHttpServer } from '../../guard/test/http-server.ts';
import { itInLongRun } from '../../scripts/long-run.ts';
import { registerDefinition } from '../src/definitions/registered-definitions.ts';
import { credentialKeeper } from './credential-keeper.ts';
import { type RunningPlatform, startPlatform } from './start-platform.ts';
import { programOf, until } from './steered.ts';

const minute = 60_000;
const total = 2_400;
const range = Array.from({ length: total }, (_, id) => id);

/** An API whose requests take five seconds of the clock each, with tokens that live one minute. */
async function start() {
  const clock = { time: Date.UTC(2030, 0, 1) };
  const keeper = credentialKeeper({ clock, lifeMs: minute });
  const seen = { refused: 0, isHeldAt: Number.POSITIVE_INFINITY, isHeld: false };
  const answer = async ({ query, headers }: Asked, reply: ServerResponse) => {
    clock.time += 5_000;
    const isValid = keeper.isValid((headers.authorization ?? '').replace('Bearer ', ''));
    if (!isValid) {
      seen.refused++;
      return void reply.writeHead(401).end('{}');
    }
    const from = Number(query.since ?? 0) + 10 * (Number(query.page ?? 1) - 1);
    while (from >= seen.isHeldAt) {
      seen.isHeld = true;
      await delay(20);
    }
    const page = range.slice(from, from + 10).map((id) => ({ id }));
    reply.setHeader('content-type', 'application/json').end(JSON.stringify(page));
  };
  const api = await startHttpServer((asked, reply) => void answer(asked, reply));
  const options = { clock, credentials: keeper, allowPrivateNetworks: true };
  const running = await startPlatform(options);
  const { call, platform, file } = running;
  platform.start();
  const { workspaceId } = (await call('POST', '/workspaces', { name: 'w' })).body;
  const launch = { type: 'command', command: programOf('steered-destination') } as const;
  const destination = await registerDefinition(platform.definitions, { kind: 'destination', name: 'Steered', launch });
  const output = join(dirname(file), 'output');
  const { destinationId } = (
    await call('POST', '/destinations', {
      ...{ name: 'd', workspaceId, definitionId: destination.definitionId },
      configuration: { file: output },
    })
  ).body;
  const connect = async (source: object, syncMode: string) => {
    const made = await call('POST', '/sources', { name: 's', workspaceId, ...source });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const { sourceId } = made.body;
    const streams = [{ name: 'things', syncMode }];
    const reply = await call('POST', '/connections', { sourceId, destinationId, configurations: { streams } });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return reply.body.connectionId as string;
  };
  const ids = () =>
    readFileSync(output, 'utf8')
      .split('\n')
      .flatMap((line) => (line.startsWith('["things"') ? [JSON.parse(line)[1].id] : []));
  const logs = () =>
    readdirSync(join(dirname(file), 'logs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.log'))
      .map((name) => readFileSync(join(dirname(file), 'logs', name), 'utf8'))
      .join('');
  return { ...running, options, clock, keeper, seen, api, workspaceId, connect, ids, logs };
}

async function ended({ call }: Pick<RunningPlatform, 'call'>, jobId: number) {
  let job = (await call('GET', `/jobs/${jobId}`)).body;
  await until(async () => {
    job = (await call('GET', `/jobs/${jobId}`)).body;
    return job.lastUpdatedAt !== undefined;
  });
  return job;
}

describe('a sync of twenty minutes with tokens that live one minute', () => {
  test('by a manifest moves every record once, in one attempt, and no token is in a log', async () => {
    const { call, connect, clock, keeper, seen, api, workspaceId, ids, logs, ...running } = await start();
    const manifest = {
      version: '6.44.0',
      type: 'DeclarativeSource',
      check: { type: 'CheckStream', stream_names: ['things'] },
      streams: [
        {
          type: 'DeclarativeStream',
          name: 'things',
          schema_loader: {
            type: 'InlineSchemaLoader',
            schema: { type: 'object', properties: { id: { type: 'integer' } } },
          },
          retriever: {
            type: 'SimpleRetriever',
            requester: {
              type: 'HttpRequester',
              url_base: api.origin,
              path: '/things',
              authenticator: {
                type: 'OAuthAuthenticator',
                token_refresh_endpoint: `${api.origin}/token`,
                client_id: "{{ config['credentials']['client_id'] }}",
                client_secret: "{{ config['credentials']['client_secret'] }}",
                refresh_token: "{{ config['credentials']['refresh_token'] }}",
              },
            },
            record_selector: { type: 'RecordSelector', extractor: { type: 'DpathExtractor', field_path: [] } },
            paginator: {
              type: 'DefaultPaginator',
              page_token_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'page' },
              pagination_strategy: { type: 'PageIncrement', page_size: 10, start_from_page: 1 },
            },
          },
        },
      ],
      spec: {
        type: 'Spec',
        connection_specification: {
          type: 'object',
          required: ['credentials'],
          properties: {
            credentials: {
              type: 'object',
              required: ['client_id', 'client_secret', 'refresh_token'],
              properties: {
                client_id: { type: 'string' },
                client_secret: { type: 'string', airbyte_secret: true, pattern: '^[0-9a-f]{40}$' },
                refresh_token: { type: 'string', airbyte_secret: true },
              },
            },
          },
        },
      },
    };
    const path = `/workspaces/${workspaceId}/definitions/declarative_sources`;
    const { id: definitionId } = (await call('POST', path, { name: 'm', manifest })).body;
    const names = ['client_id', 'client_secret', 'refresh_token'];
    const credential = {
      id: randomUUID(),
      fields: Object.fromEntries(names.map((name) => [name, ['credentials', name]])),
    };
    const connectionId = await connect({ definitionId, configuration: {}, credential }, 'full_refresh_append');
    const begunAt = clock.time;
    const { jobId } = (await call('POST', '/jobs', { connectionId, jobType: 'sync' })).body;
    expect(await ended({ call, ...running }, jobId)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      rowsSynced: total,
    });
    expect(clock.time - begunAt).toBeGreaterThanOrEqual(20 * minute);
    expect(ids()).toEqual(range);
    // The clock of the process is a real one, so the API has to refuse every token first.
    expect(seen.refused).toBeGreaterThanOrEqual(15);
    expect(api.asked.every(({ path: asked }) => asked === '/things')).toBe(true);
    for (const token of keeper.tokens) expect(logs()).not.toContain(token);
    expect(logs()).toContain('rejected the access token');
  });

  itInLongRun(
    'by http-api loses nothing when the platform is stopped in the middle, and when nobody can be asked for a token',
    async () => {
      const { call, connect, keeper, seen, api, ids, logs, options, file, stop } = await start();
      const configuration = {
        sourceType: 'http-api',
        base_url: api.origin,
        authentication: { type: 'bearer' },
        streams: [
          {
            name: 'things',
            path: '/things',
            primary_key: ['id'],
            cursor_field: 'id',
            cursor_parameter: 'since',
            sorted: true,
            pagination: { type: 'page' },
          },
        ],
      };
      const credential = { id: randomUUID(), fields: { access_token: ['authentication', 'token'] } };
      const connectionId = await connect({ configuration, credential }, 'incremental_append');
      seen.isHeldAt = 1_500;
      const { jobId } = (await call('POST', '/jobs', { connectionId, jobType: 'sync' })).body;
      await until(() => seen.isHeld && ids().length >= 1_000);
      await stop();

      // Its token expires while no new one is available, and the sync waits in the middle.
      seen.isHeldAt = 2_000;
      seen.isHeld = false;
      const again = await startPlatform({ ...options, file });
      again.platform.start();
      await until(() => seen.isHeld);
      keeper.trouble = 'unreachable';
      keeper.endEarly();
      const asked = keeper.asked.length;
      seen.isHeldAt = Number.POSITIVE_INFINITY;
      await until(() => keeper.asked.length > asked + 1);
      keeper.trouble = undefined;
      const job = await ended(again, jobId);
      expect(job).toMatchObject({ status: 'succeeded', failedAttempts: 0, attempts: 2 });
      const moved = ids();
      expect([...new Set(moved)].sort((a, b) => a - b)).toEqual(range);
      // Only what came after the last state is read again.
      expect(moved.filter((id) => id < 999)).toHaveLength(999);
      expect(seen.refused).toBeGreaterThanOrEqual(10);
      for (const token of keeper.tokens) expect(logs()).not.toContain(token);
    },
  );
});
