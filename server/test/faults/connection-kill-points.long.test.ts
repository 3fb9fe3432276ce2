/**
 * `kill -9` while one connection is changed, deleted or refreshed, and while a template is deleted with what was made from it:
 * right after every commit of the service and of the bundled platform inside. The next
 * process finishes everything once: nothing is lost, nothing is doubled, nothing stays open.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useCrashingProgram } from '../support/crashing-program.ts';
import type { Crash } from '../support/crashing-service.ts';
import { createTestDatabase, describeOnBothDatabases, type TestDatabase } from '../support/databases.ts';
import {
  call,
  eventually,
  letSixMinutesPass,
  operatorToken,
  requestToken,
  untilNothingIsOpen,
  workspaceOf,
} from '../support/deployment.ts';
import { localFiles, sampleData } from '../support/pipelines.ts';
import { type Service, startService } from '../support/service.ts';

const patienceMs = 300_000;
const api = '/api/v1/integrations';
const nightly = '0 30 2 * * ?';

/** What the platform has in a workspace afterwards. */
interface Left {
  connections: { status: string; cron: string }[];
  destinations: number;
  sources: number;
}
const active = { status: 'active', cron: '0 0 * * * ?' };
const untouched: Left = { connections: [active], destinations: 1, sources: 1 };

interface Kind {
  name: string;
  method: string;
  path(ids: { connection: string; connections: string; sources: string }): string;
  /** Which template is deleted, if one is: with it goes what both customers have from it. */
  template?: 'connections' | 'sources';
  body?: object;
  left: Left;
}
const kinds: Kind[] = [
  {
    name: 'change',
    method: 'PATCH',
    path: ({ connection }) => `${api}/connections/${connection}`,
    body: { cron_expression: nightly, status: 'inactive' },
    left: { ...untouched, connections: [{ status: 'inactive', cron: nightly }] },
  },
  {
    name: 'delete',
    method: 'DELETE',
    path: ({ connection }) => `${api}/connections/${connection}`,
    left: { ...untouched, connections: [] },
  },
  {
    name: 'refresh',
    method: 'POST',
    path: ({ connection }) => `${api}/connections/${connection}/refresh`,
    left: untouched,
  },
  ...(['connections', 'sources'] as const).flatMap((template): Kind[] => [
    {
      name: `delete a template of ${template} and pause`,
      method: 'DELETE',
      path: (ids) => `${api}/templates/${template}/${ids[template]}?existing=pause`,
      template,
      left: { ...untouched, connections: [{ ...active, status: 'inactive' }] },
    },
    {
      name: `delete a template of ${template} with everything`,
      method: 'DELETE',
      path: (ids) => `${api}/templates/${template}/${ids[template]}?existing=delete`,
      template,
      left:
        template === 'connections'
          ? { connections: [], destinations: 0, sources: 1 }
          : { connections: [], destinations: 1, sources: 0 },
    },
  ]),
];
const commits = Array.from({ length: 200 }, (_, index) => index + 1);

describeOnBothDatabases('a service killed while connections are changed and templates are deleted', (kind) => {
  const program = useCrashingProgram();
  let database: TestDatabase;
  let service: Service;
  let made = 0;

  const start = async (port?: number) => {
    const store = database.url ? { INLAY_DATABASE_URL: database.url } : {};
    const env = { ...store, INLAY_OPERATOR_TOKEN: operatorToken, LOG_LEVEL: 'warn' };
    service = await startService({ program, dataDir: database.dataDir, ...(port ? { port } : {}), env });
  };
  beforeAll(async () => {
    database = await createTestDatabase(kind, { migrated: true });
    await start();
  });
  afterAll(async () => {
    await service?.kill();
    await database?.drop();
  });

  const ask = async (method: string, path: string, body?: object) => {
    const reply = await call(service, method, path, body);
    expect(reply.status, `${method} ${path} ${JSON.stringify(reply.body)}`).toBeLessThan(300);
    return reply.body;
  };

  async function askPlatform(path: string) {
    const base = `${service.url}/platform/v1`;
    const file = await readFile(join(database.dataDir, 'platform-credentials.json'), 'utf8');
    const { clientId, clientSecret } = JSON.parse(file);
    const token = await fetch(`${base}/applications/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_id: clientId, client_secret: clientSecret }),
    });
    const { access_token } = (await token.json()) as { access_token: string };
    const response = await fetch(base + path, { headers: { authorization: `Bearer ${access_token}` } });
    return ((await response.json()) as { data: Record<string, unknown>[] }).data;
  }

  /** Two customers with one source and one connection each, from templates of their own. */
  async function prepare() {
    const tag = `work ${++made}`;
    const name = `Numbers ${made}`;
    const sources = (await ask('POST', `${api}/templates/sources`, { actor_definition_id: sampleData, name })).id;
    const connections = (
      await ask('POST', `${api}/templates/connections`, {
        destination_name: `Files ${made}`,
        destination_definition_id: localFiles,
        destination_config: { path: 'out' },
        tags: [tag],
        skip_check: true,
        sync_on_create: false,
      })
    ).id;
    const workspaces: string[] = [];
    for (const customer of ['one', 'two']) {
      const workspaceId = workspaceOf((await requestToken(service, `${tag} ${customer}`)).body.token);
      workspaces.push(workspaceId);
      await ask('POST', `${api}/sources?workspace_id=${workspaceId}`, {
        source_template_id: sources,
        source_config: { count: 1 },
        selected_connection_template_tags: [tag],
      });
    }
    await untilNothingIsOpen(service, patienceMs);
    const [workspaceId] = workspaces as [string];
    const [connection] = (await ask('GET', `${api}/connections?workspace_id=${workspaceId}`)).data;
    expect(connection).toMatchObject({ status: 'active', applied: true });
    return { connection: connection.id as string, connections, sources, workspaces };
  }

  async function leftIn(workspaceId: string): Promise<Left> {
    const list = (what: string) => askPlatform(`/${what}?workspaceIds=${workspaceId}`);
    const connections = (await list('connections')).map(({ status, schedule }) => ({
      status: String(status),
      cron: String((schedule as { cronExpression?: string }).cronExpression).replace(' UTC', ''),
    }));
    return {
      connections,
      destinations: (await list('destinations')).length,
      sources: (await list('sources')).length,
    };
  }

  /** Whether the service still runs to be disarmed; the bundled platform keeps committing in the background. */
  const disarm = () => service.tell({ at: 0, edge: 'before' } satisfies Crash);

  it.each(kinds)('$name: the next process finishes it once', async ({ method, path, body, template, left }) => {
    let killed = 0;
    for (const at of commits) {
      const { workspaces, ...ids } = await prepare();
      const send = () => call(service, method, path(ids), body);
      // All commits count, so right after one is also right before the next.
      await service.tell({ at, edge: 'after', withPlatform: true } satisfies Crash);
      const died = service.exited.then(() => false);
      const rollouts = async (): Promise<{ state: string }[]> =>
        template ? (await ask('GET', `${api}/templates/${template}/${ids[template]}/rollouts`)).data : [];
      const isOver = async () => (await rollouts()).every(({ state }) => state === 'finished');
      const isDone = async () => {
        await eventually('the rollout has ended', isOver, patienceMs);
        await untilNothingIsOpen(service, patienceMs);
        return await disarm();
      };
      const isAlive = await send().then(
        () => Promise.race([died, isDone().catch(() => died)]),
        () => died,
      );
      if (!isAlive) {
        expect((await service.exited).signal).toBe('SIGKILL');
        killed++;
        await letSixMinutesPass(database);
        await start(service.port);
      }
      // A client without an answer asks again; what is deleted already is not found.
      const again = await send();
      expect([200, 202, 204, 404], JSON.stringify(again.body)).toContain(again.status);
      await untilNothingIsOpen(service, patienceMs);
      for (const [index, workspaceId] of workspaces.entries()) {
        const expected = template || index === 0 ? left : untouched;
        await expect.poll(() => leftIn(workspaceId), { timeout: patienceMs, interval: 200 }).toEqual(expected);
        const here = (await ask('GET', `${api}/connections?workspace_id=${workspaceId}`)).data;
        expect(here).toHaveLength(expected.connections.length);
        for (const connection of here) expect(connection).toMatchObject({ applied: true });
      }
      await eventually('the rollout has ended', isOver, patienceMs);
      if (template) expect(await rollouts()).toMatchObject([{ workspaces: { total: 2, done: 2, failed: 0 } }]);
      if (isAlive) break;
    }
    expect(killed).toBeGreaterThan(3);
  });
});
