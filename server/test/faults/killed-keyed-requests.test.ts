/**
 * `kill -9` at each commit of a request with an Idempotency-Key, and the same request again: what it makes exists at most
 * once, and a client that repeats until it gets a response gets a true one. A short run tries half of the commits on each
 * database.
 */
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { useCrashingProgram } from '../support/crashing-program.ts';
import type { Crash } from '../support/crashing-service.ts';
import { createTestDatabase, describeOnOneDatabase } from '../support/databases.ts';
import { writeToStore } from '../support/deployment.ts';
import { sampleData } from '../support/pipelines.ts';
import { type Service, startService } from '../support/service.ts';

const token = 'the-token-of-an-operator-who-repeats-requests';
const templates = '/api/v1/integrations/templates/sources';
const template = { actor_definition_id: sampleData, name: 'Once', partial_default_config: { seed: 7 } };
const tokenPath = '/api/v1/embedded/scoped-token';

/** What a request does with its key. Housekeeping deletes old keys at any time, and a lease is renewed if the work is slow. */
const changesOfRequest = 'insert into "idempotency_keys"|update "idempotency_keys" set "(?!lease_until)';

const program = useCrashingProgram();

describeOnOneDatabase('A request with an Idempotency-Key whose process is killed', (kind) => {
  it('takes effect at most once, and is carried out again where that does no harm', async () => {
    const database = await createTestDatabase(kind, { migrated: true });
    let service: Service | undefined;
    onTestFinished(async () => {
      await service?.kill();
      await database.drop();
    });
    const start = async () => {
      const env = { INLAY_OPERATOR_TOKEN: token, ...(database.url ? { INLAY_DATABASE_URL: database.url } : {}) };
      service = await startService({ program, dataDir: database.dataDir, env });
      return service;
    };
    async function post(path: string, key: string, body: object) {
      const response = await fetch(`${service?.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
      });
      const { status, headers } = response;
      return {
        status,
        code: headers.get('x-inlay-error'),
        replayed: headers.get('idempotency-replayed'),
        body: await response.json(),
      };
    }
    async function countTemplates(): Promise<number> {
      const response = await fetch(`${service?.url}${templates}`, { headers: { authorization: `Bearer ${token}` } });
      return ((await response.json()) as { data: unknown[] }).data.length;
    }
    /** Sends the request to a process that is killed by it. Then time passes, and the process starts again. */
    async function crashWith(crash: Crash, send: () => Promise<unknown>): Promise<void> {
      const running = service as Service;
      await running.tell({ ...crash, about: changesOfRequest });
      await expect(send()).rejects.toThrow();
      expect((await running.exited).signal).toBe('SIGKILL');
      await start();
    }
    const letTheLeaseRunOut = () => writeToStore(database, 'update idempotency_keys set lease_until = 0');

    await start();
    // The commits of this request: its key, its work, its answer.
    const create = (key: string) => () => post(templates, key, template);
    let made = 0;
    if (isLongRun || kind === 'sqlite') {
      const beforeWork = create(randomUUID());
      await crashWith({ at: 2, edge: 'before' }, beforeWork);
      expect(await beforeWork()).toMatchObject({ status: 409, code: 'idempotency_key_in_use' });
      await letTheLeaseRunOut();
      expect(await beforeWork()).toMatchObject({ status: 201, replayed: null });
      expect(await beforeWork()).toMatchObject({ status: 201, replayed: 'true' });
      expect(await countTemplates()).toBe(++made);

      const afterAnswer = create(randomUUID());
      await crashWith({ at: 3, edge: 'after' }, afterAnswer);
      expect(await afterAnswer()).toMatchObject({ status: 201, replayed: 'true' });
      expect(await countTemplates()).toBe(++made);
    }
    if (isLongRun || kind === 'postgres') {
      const beforeAnswer = create(randomUUID());
      await crashWith({ at: 3, edge: 'before' }, beforeAnswer);
      await letTheLeaseRunOut();
      for (let tries = 0; tries < 2; tries++) {
        expect(await beforeAnswer()).toMatchObject({ status: 409, code: 'idempotency_answer_lost' });
      }
      expect(await countTemplates()).toBe(++made);

      // A workspace is found by its name, so the work may be done again.
      const byName = randomUUID();
      const askForToken = () => post(tokenPath, byName, { workspace_name: 'killed' });
      await crashWith({ at: 2, edge: 'after' }, askForToken);
      await letTheLeaseRunOut();
      await writeToStore(database, 'update name_claims set lease_until = 0, no_post_before = 0');
      const found = await askForToken();
      expect(found).toMatchObject({ status: 200, replayed: null });
      expect((await askForToken()).body).toEqual(found.body);
    }
  });
});
