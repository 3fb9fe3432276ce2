/**
 * Replicas behind a load balancer: many clients that ask for one new name, and restarts that no client notices. A short run
 * has three replicas, so that two serve while the third restarts; INLAY_LONG_TESTS has four, and more clients, who never
 * pause.
 */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLongRun, itInLongRun } from '../../../scripts/long-run.ts';
import { createTestDatabase, type TestDatabase } from '../support/databases.ts';
import {
  byId,
  type HostedPlatform,
  listWorkspaces,
  operatorToken,
  pauseOfClient,
  type Reply,
  requestToken,
  startHostedPlatform,
  tokenPath,
  untilNothingIsOpen,
  workspaceOf,
} from '../support/deployment.ts';
import { type Service, startService } from '../support/service.ts';

const rounds = isLongRun ? 50 : 1;
const crowd = isLongRun ? 500 : 100;
const replicaCount = isLongRun ? 4 : 3;
const clients = isLongRun ? 6 : 4;
/** So many answers between two steps of a restart: every client has had several. */
const answersBetween = isLongRun ? 50 : 24;

describe(`${replicaCount} replicas on one PostgreSQL [postgres]`, () => {
  let database: TestDatabase;
  let platform: HostedPlatform;
  let replicas: Service[];
  const start = (port?: number) =>
    startService({
      dataDir: database.dataDir,
      ...(port ? { port } : {}),
      env: { INLAY_DATABASE_URL: database.url, ...platform.env },
    });

  beforeAll(async () => {
    [database, platform] = await Promise.all([
      createTestDatabase('postgres', { migrated: true }),
      startHostedPlatform(),
    ]);
    replicas = await Promise.all(Array.from({ length: replicaCount }, () => start()));
  });
  afterAll(async () => {
    await Promise.all((replicas ?? []).map((replica) => replica.stop()));
    await platform?.stop();
    await database?.drop();
  });

  it(`send one create for a new name that ${crowd} ask for at once, in each of ${rounds} rounds`, async () => {
    for (let round = 0; round < rounds; round++) {
      const name = `crowd ${round}`;
      const answers = await Promise.all(
        Array.from({ length: crowd }, (_, i) => requestToken(replicas[i % replicas.length] as Service, name)),
      );
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      expect(new Set(answers.map(({ body }) => workspaceOf(body.token))).size).toBe(1);
      expect([name, platform.proxy.createsSent(name)]).toEqual([name, 1]);
    }
    const there = await platform.workspaces();
    expect(there.map(({ name }) => name).sort()).toEqual(Array.from({ length: rounds }, (_, i) => `crowd ${i}`).sort());
  });

  /** One try at one replica, on a connection of its own. Undefined when no byte of an answer came back. */
  function tryReplica({ port }: Service, method: string, path: string, body?: object): Promise<Reply | undefined> {
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
        if (error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(undefined);
        else reject(error);
      });
      outgoing.end(body && JSON.stringify(body));
    });
  }

  let turn = 0;
  /** Round robin; the next replica when one refuses or closes the connection without an answer. */
  async function balance(method: string, path: string, body?: object): Promise<Reply> {
    // A counter per request: with a shared one, all tries could reach the same replica.
    const first = turn++;
    for (let tries = 0; tries < replicas.length; tries++) {
      const answer = await tryReplica(replicas[(first + tries) % replicas.length] as Service, method, path, body);
      if (answer) return answer;
    }
    throw new Error(`no replica answered ${method} ${path}`);
  }

  itInLongRun('can be restarted one after the other without a request failing', async () => {
    const failures: string[] = [];
    const created: string[] = [];
    let [stop, isStarting] = [false, false];
    let answered = 0;
    let wanted = { count: 0, isReached: () => {} };
    /** Not by asking now and then: the load would take the CPU time meanwhile. */
    const moreAnswers = () =>
      new Promise<void>((isReached) => {
        wanted = { count: answered + answersBetween, isReached };
      });
    const load = Array.from({ length: clients }, async (_, worker) => {
      for (let i = 0; !stop; i++) {
        const name = `rolling ${worker} ${i >> 2}`;
        try {
          // A new name, the same name again, and reads.
          const { status, body } = await (i % 4 < 2
            ? balance('POST', tokenPath, { workspace_name: name })
            : balance('GET', '/api/v1/workspaces?limit=5'));
          if (status !== 200) failures.push(`${status} ${JSON.stringify(body)}`);
          else if (i % 4 === 0) created.push(name);
          answered++;
          if (answered === wanted.count) wanted.isReached();
        } catch (error) {
          failures.push(String(error));
        }
        if (isStarting || !isLongRun) await pauseOfClient(isStarting ? 250 : 50);
      }
    });
    for (const [index, replica] of replicas.entries()) {
      await moreAnswers();
      expect(await replica.stop('SIGTERM')).toBe(0);
      // From the others.
      await moreAnswers();
      isStarting = true;
      replicas[index] = await start(replica.port);
      isStarting = false;
    }
    await moreAnswers();
    stop = true;
    await Promise.all(load);

    expect(failures).toEqual([]);
    for (const name of created) expect([name, platform.proxy.createsSent(name)]).toEqual([name, 1]);
    const [first] = replicas as [Service];
    await untilNothingIsOpen(first);
    const [here, there] = await Promise.all([listWorkspaces(first), platform.workspaces()]);
    expect(byId(here)).toEqual(byId(there));
  });
});
