/**
 * Two processes on one data directory and one database, as in an upgrade without an outage: clients ask whichever is there,
 * and customers' syncs run, while one process takes over from the other.
 */
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SqliteConnection } from '@inlay/database/connection';
import { expect } from 'vitest';
import type { TestDatabase } from './databases.ts';
import { eventually, listWorkspaces, operatorToken, type Reply, tokenPath, workspaceOf } from './deployment.ts';
import { localFiles, sampleData } from './pipelines.ts';
import { type Service, startService } from './service.ts';

/** Another build's program; undefined: the one of this checkout. */
type Program = string | undefined;

interface SideBySide {
  database: TestDatabase;
  /** The first one starts alone. Each of the others starts beside the one before it, which then stops. */
  programs: readonly Program[];
  clients?: number;
  pauseMs?: number;
}

/** In each of the steps, so many requests are answered, and at least one sync that began in it ends. */
const answersPerStep = 20;
const customers = ['acme', 'globex'];
const ended = ['succeeded', 'failed', 'cancelled'];

export async function takeOver({ database, programs, clients = 2, pauseMs = 50 }: SideBySide): Promise<void> {
  let live: Service[] = [];
  let turn = 0;
  let answered = 0;
  const syncs: { id: string; status: string }[] = [];
  const failures: string[] = [];
  const names = new Map<string, Set<string>>();
  let isOver = false;

  const start = async (program: Program) => {
    const service = await startService({
      dataDir: database.dataDir,
      ...(program !== undefined && { program }),
      env: {
        ...(database.url && { INLAY_DATABASE_URL: database.url }),
        INLAY_OPERATOR_TOKEN: operatorToken,
        INLAY_PUBLIC_URL: 'https://inlay.example',
        LOG_LEVEL: 'warn',
      },
    });
    live = [...live, service];
    return service;
  };

  /** As a proxy does: the next one, when one refuses the connection or closes it without an answer. */
  async function ask(method: string, path: string, body?: object): Promise<Reply['body']> {
    const first = turn++;
    const candidates = live;
    for (let tries = 0; tries < candidates.length; tries++) {
      const service = candidates[(first + tries) % candidates.length] as Service;
      const reply = await tryService(service, method, path, body);
      if (!reply) continue;
      if (reply.status >= 400) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
      answered++;
      return reply.body;
    }
    throw new Error(`nobody answered ${method} ${path}`);
  }
  const noting = (work: () => Promise<void>) => work().catch((error) => void failures.push(String(error)));
  const untilOver = async (work: (round: number) => Promise<void>) => {
    for (let round = 0; !isOver; round++) {
      await noting(() => work(round));
      await delay(pauseMs);
    }
  };

  const client = (worker: number) =>
    untilOver(async (round) => {
      const name = `customer ${worker} ${round >> 2}`;
      if (round % 4 >= 2) return void (await ask('GET', '/api/v1/workspaces?limit=5'));
      const { token } = await ask('POST', tokenPath, { workspace_name: name });
      names.set(name, (names.get(name) ?? new Set()).add(workspaceOf(token)));
    });
  const syncing = (connectionId: string) =>
    untilOver(async () => {
      const { id } = await ask('POST', `/api/v1/integrations/connections/${connectionId}/sync`);
      const sync = { id, status: 'pending' };
      // Also when the load is over: no job is left behind.
      while (!ended.includes(sync.status)) {
        await delay(pauseMs);
        sync.status = (await ask('GET', `/api/v1/integrations/jobs/${id}`)).status;
      }
      syncs.push(sync);
    });

  async function step(): Promise<void> {
    const [answers, count] = [answered + answersPerStep, syncs.length + customers.length + 1];
    await eventually('requests are answered and syncs end', () => {
      expect(failures).toEqual([]);
      return answered >= answers && syncs.length >= count;
    });
  }

  try {
    const [firstProgram, ...others] = programs;
    let current = await start(firstProgram);
    const connections = await setUp(ask);
    const load = [...Array.from({ length: clients }, (_, worker) => client(worker)), ...connections.map(syncing)];
    await step();
    for (const program of others) {
      const next = await start(program);
      await step();
      live = live.filter((service) => service !== current);
      expect(await current.stop()).toBe(0);
      await step();
      current = next;
    }
    isOver = true;
    await Promise.all(load);

    expect(failures).toEqual([]);
    expect(syncs.filter(({ status }) => status !== 'succeeded')).toEqual([]);
    const { data: jobs } = await ask('GET', '/api/v1/integrations/jobs?limit=100');
    expect(jobs.filter(({ status }: { status: string }) => status !== 'succeeded')).toEqual([]);
    // Nothing was created twice.
    const listed = await listWorkspaces(current);
    expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length);
    for (const [name, ids] of names) expect([name, [...ids]]).toEqual([name, [expect.any(String)]]);
    await current.stop();
    live = [];
    for (const name of database.url ? ['platform.db'] : ['inlay.db', 'platform.db']) {
      const file = new SqliteConnection(join(database.dataDir, name));
      expect(file.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
      file.close();
    }
  } finally {
    isOver = true;
    await Promise.all(live.map((service) => service.stop()));
  }
}

/** Templates, and a connection of each customer. */
async function setUp(ask: (method: string, path: string, body?: object) => Promise<Reply['body']>): Promise<string[]> {
  const templates = '/api/v1/integrations/templates';
  const source = { actor_definition_id: sampleData, name: 'Shop', partial_default_config: { seed: 7 } };
  const { id: templateId } = await ask('POST', `${templates}/sources`, source);
  await ask('POST', `${templates}/connections`, {
    ...{ destination_name: 'Files', destination_definition_id: localFiles, destination_config: { path: 'exports' } },
    ...{ namespace_format: '', cron_expression: null, sync_on_create: false, skip_check: true },
  });
  for (const workspace_name of customers) {
    const { token } = await ask('POST', tokenPath, { workspace_name });
    const body = { source_template_id: templateId, name: 'Our shop', source_config: { count: 2_000 } };
    await ask('POST', `/api/v1/integrations/sources?workspace_id=${workspaceOf(token)}`, body);
  }
  const list = async () => (await ask('GET', '/api/v1/integrations/connections')).data;
  await eventually('the connections are set up', async () => {
    const connections = await list();
    return connections.length === customers.length && connections.every((each: { applied: boolean }) => each.applied);
  });
  return (await list()).map(({ id }: { id: string }) => id);
}

/** On a connection of its own. Undefined when no byte of an answer came back. */
function tryService({ port }: Service, method: string, path: string, body?: object): Promise<Reply | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' };
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, async (answer) => {
      try {
        let text = '';
        for await (const chunk of answer.setEncoding('utf8')) text += chunk;
        resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) });
      } catch (error) {
        reject(error);
      }
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '')) resolve(undefined);
      else reject(error);
    });
    outgoing.end(body && JSON.stringify(body));
  });
}
