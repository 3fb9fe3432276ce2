/**
 * The password of a warehouse is changed while customers are connected: a plan, a staged rollout, `kill -9` in the middle, a tenth
 * of the customers that the platform refuses, a rollback, and once more. In the end all have one version, none is lost and
 * none is doubled.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, describeOnBothDatabases, type TestDatabase } from '../support/databases.ts';
import {
  call,
  eventually,
  type HostedPlatform,
  letSixMinutesPass,
  requestToken,
  startHostedPlatform,
  untilNothingIsOpen,
  workspaceOf,
} from '../support/deployment.ts';
import { postgresDestination, sampleData } from '../support/pipelines.ts';
import type { Phase, ProxiedRequest } from '../support/platform-proxy.ts';
import { type Service, startService } from '../support/service.ts';

const customers = 1_000;
const patienceMs = 3_600_000;
const templates = '/api/v1/integrations/templates';
const warehouse = { host: 'warehouse.example', port: 5432, database: 'dw', username: 'loader' };
const isRotation = ({ method, path }: ProxiedRequest) => method === 'PUT' && path.startsWith('/destinations/');

describeOnBothDatabases('a warehouse whose password changes', (kind) => {
  let database: TestDatabase;
  let platform: HostedPlatform;
  let service: Service;
  /** By destination on the platform: the password that it took last. */
  const passwords = new Map<string, string>();

  const start = async () => {
    const store = database.url ? { INLAY_DATABASE_URL: database.url } : {};
    service = await startService({ dataDir: database.dataDir, env: { ...store, ...platform.env } });
  };
  beforeAll(async () => {
    [database, platform] = await Promise.all([createTestDatabase(kind, { migrated: true }), startHostedPlatform()]);
    await start();
  });
  afterAll(async () => {
    await service?.stop();
    await platform?.stop();
    await database?.drop();
  });

  const ask = async (method: string, path: string, body?: object) => {
    const { status, body: answer } = await call(service, method, path, body);
    expect(status, JSON.stringify(answer)).toBeLessThan(300);
    return answer;
  };
  const listed = async (what: string, workspaceId: string) =>
    (await platform.request('GET', `/${what}?workspaceIds=${workspaceId}`)).body.data;

  /** Notes what the platform takes, refuses some destinations, and kills the service once. */
  function watch({
    refused = new Set<string>(),
    kill,
  }: {
    refused?: Set<string>;
    kill: { nth: number; phase: Phase };
  }) {
    let seen = 0;
    let killed = () => {};
    const isKilled = new Promise<void>((resolve) => {
      killed = resolve;
    });
    platform.proxy.script = async (request, phase) => {
      if (!isRotation(request)) return undefined;
      const id = request.path.split('/')[2] ?? '';
      if (phase === 'arrived' && refused.has(id)) return { status: 422, body: '{}' };
      if (phase === 'applied') passwords.set(id, JSON.parse(request.body).configuration.password);
      if (phase !== kill.phase || ++seen !== kill.nth) return undefined;
      await service.kill();
      killed();
      return 'drop';
    };
    return isKilled;
  }

  /** As it is when it has come to this state, and nothing is under way any more. */
  const until = async (rollout: string, state: string) => {
    let answer = await ask('GET', rollout);
    const isSo = async () => {
      answer = await ask('GET', rollout);
      return answer.state === state && answer.workspaces.changing === 0;
    };
    await eventually(`the rollout is ${state}`, isSo, patienceMs).catch((cause) => {
      throw new Error(JSON.stringify(answer), { cause });
    });
    return answer;
  };

  it(
    'reaches every customer once, through kill -9, refusals, a stop and a rollback',
    async () => {
      const { id: source_template_id } = await ask('POST', `${templates}/sources`, { actor_definition_id: sampleData });
      const { id } = await ask('POST', `${templates}/connections`, {
        destination_name: 'Warehouse',
        destination_definition_id: postgresDestination,
        destination_config: { ...warehouse, password: 'one' },
        sync_on_create: false,
        skip_check: true,
      });
      const workspaces: string[] = [];
      const connect = async (n: number) => {
        const workspaceId = workspaceOf((await requestToken(service, `customer-${n}`)).body.token);
        workspaces.push(workspaceId);
        const source = { source_template_id, name: 'Shop', source_config: { count: 1 } };
        await ask('POST', `/api/v1/integrations/sources?workspace_id=${workspaceId}`, source);
      };
      for (let n = 0; n < customers; n += 10) {
        await Promise.all(Array.from({ length: 10 }, (_, offset) => connect(n + offset)));
      }
      await untilNothingIsOpen(service, patienceMs);
      const destinationOf = async (workspaceId: string) => {
        const found = await listed('destinations', workspaceId);
        expect(found).toHaveLength(1);
        return found[0].destinationId as string;
      };
      // A tenth, in the middle.
      const middle = workspaces.toSorted().slice(customers / 2, customers / 2 + customers / 10);
      const refused = new Set(await Promise.all(middle.map(destinationOf)));
      const at = `${templates}/connections/${id}`;
      const rollouts = `${at}/rollouts`;

      let killed = watch({ refused, kill: { nth: 6, phase: 'applied' } });
      const plan = await ask('POST', `${at}/plan`, {
        destination_config: { ...warehouse, password: 'two' },
        skip_check: true,
        apply: { stages: [{ percent: 20 }], stop_at_failed_percent: 5, at_once: 4 },
      });
      expect(plan).toMatchObject({
        touches: { workspaces: customers, sources: customers, connections: customers },
        outcomes: { changes: customers, unchanged: 0, needs_customer: 0, breaks: 0 },
      });
      const { rollout_id } = await ask('PATCH', at, { plan_id: plan.plan_id });
      await killed;
      await letSixMinutesPass(database);
      await start();
      const stopped = await until(`${rollouts}/${rollout_id}`, 'stopped');
      const { total, failed, done, waiting } = stopped.workspaces;
      expect(total).toBe(customers);
      // The share is of those that had their turn when it was judged; four more were under way then.
      expect(failed * 100).toBeGreaterThan(5 * (failed + done - 4));
      expect(failed).toBeLessThanOrEqual(refused.size);
      expect(waiting).toBeGreaterThan(0);

      killed = watch({ kill: { nth: 3, phase: 'arrived' } });
      const back = await ask('POST', `${at}/rollback`, { version: 1 });
      await killed;
      await letSixMinutesPass(database);
      await start();
      await until(`${rollouts}/${back.rollout_id}`, 'finished');
      for (const password of passwords.values()) expect(password).toBe('one');

      killed = watch({ kill: { nth: customers / 2, phase: 'answered' } });
      const again = await ask('POST', `${at}/rollback`, { version: 2, apply: 'all' });
      expect(again.version).toBe(4);
      await killed;
      await letSixMinutesPass(database);
      await start();
      const { workspaces: counts } = await until(`${rollouts}/${again.rollout_id}`, 'finished');
      expect(counts).toEqual({ total: customers, waiting: 0, changing: 0, done: customers, failed: 0, skipped: 0 });
      await untilNothingIsOpen(service, patienceMs);
      for (const workspaceId of workspaces) {
        expect(passwords.get(await destinationOf(workspaceId))).toBe('two');
        expect(await listed('sources', workspaceId)).toHaveLength(1);
        const connections = await listed('connections', workspaceId);
        expect(connections).toHaveLength(1);
        expect(connections[0].status).toBe('active');
      }
      platform.proxy.script = undefined;
    },
    patienceMs * 2,
  );
});
