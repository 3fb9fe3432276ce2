/**
 * Two replicas on one PostgreSQL and one platform process: the same sources are created, changed and deleted on both
 * while their workspaces are (de)activated and deleted. Whatever the order, in the end both sides have the same.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from './simulation/world.ts';
import { createTestDatabase, type TestDatabase } from './support/databases.ts';
import {
  call,
  type HostedPlatform,
  type Reply,
  requestToken,
  startHostedPlatform,
  untilNothingIsOpen,
  workspaceOf,
} from './support/deployment.ts';
import { localFiles, sampleData } from './support/pipelines.ts';
import { type Service, startService } from './support/service.ts';

const seed = Number(process.env.INLAY_RACE_SEED ?? 1);
const requests = 160;
const atATime = 8;
const destinations = ['Files', 'More files'];

describe('two replicas that change the same sources at once [postgres]', () => {
  let database: TestDatabase;
  let platform: HostedPlatform;
  let replicas: Service[];
  let template: string;

  beforeAll(async () => {
    [database, platform] = await Promise.all([
      createTestDatabase('postgres', { migrated: true }),
      startHostedPlatform(),
    ]);
    const env = { ...platform.env, INLAY_DATABASE_URL: database.url as string };
    replicas = await Promise.all([0, 1].map(() => startService({ dataDir: database.dataDir, env })));
    const templates = '/api/v1/integrations/templates';
    const [first] = replicas as [Service];
    const made = await call(first, 'POST', `${templates}/sources`, {
      actor_definition_id: sampleData,
      name: 'Sample',
      partial_default_config: { seed: 7 },
    });
    template = made.body.id;
    for (const destination_name of destinations) {
      await call(first, 'POST', `${templates}/connections`, {
        destination_name,
        destination_definition_id: localFiles,
        destination_config: { path: 'out' },
        skip_check: true,
        cron_expression: null,
        sync_on_create: false,
      });
    }
  });
  afterAll(async () => {
    await Promise.all((replicas ?? []).map((replica) => replica.stop()));
    await platform?.stop();
    await database?.drop();
  });

  const onPlatform = async (what: string, workspaceId: string) =>
    (await platform.request('GET', `/${what}?workspaceIds=${workspaceId}&limit=100`)).body.data;

  it(`agree with the platform in the end (INLAY_RACE_SEED=${seed})`, async () => {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const workspaces: string[] = [];
    for (const name of ['a', 'b', 'c', 'deleted']) {
      workspaces.push(workspaceOf((await requestToken(pick(replicas), name)).body.token));
    }
    const doomed = workspaces.at(-1) as string;
    const known: { id: string; workspaceId: string }[] = [];
    const counts = { create: 0, update: 0, delete: 0, status: 0 };

    async function act(number: number): Promise<Reply> {
      const replica = pick(replicas);
      const dice = random();
      const isTimeToDelete = number === Math.floor(requests / 2);
      if (isTimeToDelete) return await call(replica, 'DELETE', `/api/v1/workspaces/${doomed}`);
      const source = pick(known);
      const path = (id = '') => `/api/v1/integrations/sources${id}?workspace_id=${source?.workspaceId}`;
      if (dice < 0.3 || !source) {
        counts.create++;
        const workspaceId = pick(workspaces);
        const created = await call(replica, 'POST', `/api/v1/integrations/sources?workspace_id=${workspaceId}`, {
          source_template_id: template,
          source_config: { count: 1 },
        });
        if (created.status === 201) known.push({ id: created.body.id, workspaceId });
        return created;
      }
      if (dice < 0.6) {
        counts.update++;
        return await call(replica, 'PUT', path(`/${source.id}`), { source_config: { count: 1 + number } });
      }
      if (dice < 0.75) {
        counts.delete++;
        return await call(replica, 'DELETE', path(`/${source.id}`));
      }
      counts.status++;
      const status = pick(['active', 'inactive']);
      return await call(replica, 'PUT', `/api/v1/workspaces/${pick(workspaces)}`, { status });
    }

    let next = 0;
    const work = async () => {
      for (let number = next++; number < requests; number = next++) {
        const { status, body } = await act(number);
        // The change is done, recorded for later, too late, or in conflict with another.
        expect([200, 201, 404, 409, 502, 503, 504], JSON.stringify(body)).toContain(status);
      }
    };
    await Promise.all(Array.from({ length: atATime }, work));
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(5);
    for (const replica of replicas) await untilNothingIsOpen(replica);

    for (const workspaceId of workspaces) {
      const [sources, connections] = [
        await onPlatform('sources', workspaceId),
        await onPlatform('connections', workspaceId),
      ];
      if (workspaceId === doomed) {
        expect([sources, connections]).toEqual([[], []]);
        continue;
      }
      const { status } = (await call(pick(replicas), 'GET', `/api/v1/workspaces/${workspaceId}`)).body;
      const list = `/api/v1/integrations/sources?workspace_id=${workspaceId}`;
      const here: { id: string; status: string }[] = (await call(pick(replicas), 'GET', list)).body.data;
      expect(here.map((source) => source.status)).toEqual(here.map(() => 'ready'));
      expect(sources.length).toBe(here.length);
      for (const { id } of here) {
        const mark = `(${id.replaceAll('-', '').slice(0, 12)})`;
        const there = sources.filter(({ name }: { name: string }) => name.endsWith(mark));
        expect(there, id).toHaveLength(1);
        const path = `/api/v1/integrations/sources/${id}?workspace_id=${workspaceId}`;
        const { source_config } = (await call(pick(replicas), 'GET', path)).body;
        expect(there[0].configuration, 'the newest configuration').toEqual({ seed: 7, ...source_config });
        const own = connections.filter(({ sourceId }: { sourceId: string }) => sourceId === there[0].sourceId);
        expect(new Set(own.map(({ destinationId }: { destinationId: string }) => destinationId)).size).toBe(
          destinations.length,
        );
        expect(own, 'one for each template').toHaveLength(destinations.length);
      }
      expect(connections.length).toBe(here.length * destinations.length);
      const statuses = connections.map((connection: { status: string }) => connection.status);
      expect(statuses, `in a workspace that is ${status}`).toEqual(statuses.map(() => status));
      expect((await onPlatform('destinations', workspaceId)).length).toBeLessThanOrEqual(destinations.length);
    }
  });
});
