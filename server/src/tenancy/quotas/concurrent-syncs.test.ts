/** How many syncs run at the same time where the platform knows no such limit: on both databases, with two replicas. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { Answer, TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import { type FaultyPlatform, first, lostAnswer, unreachable } from '../../../test/support/faults.ts';
import { type HostedApp, startHostedApp } from '../../../test/support/hosted-app.ts';
import {
  type Customer,
  customer,
  makeConnectionTemplate,
  makeSourceTemplate,
} from '../../../test/support/pipelines.ts';

const patience = { timeout: 300_000, interval: 50 };
const isStart = ({ method, path }: { method: string; path: string }) => method === 'POST' && path === '/jobs';

describeInTurns('The quota concurrent_syncs', (kind, it) => {
  let hosted: HostedApp;
  let test: TestApp;
  let faulty: FaultyPlatform;
  let replicas: [TestApp, TestApp];
  let template: string;
  beforeAll(async () => {
    hosted = await startHostedApp(kind);
    ({ test, faulty } = hosted);
    replicas = [test, await hosted.startReplica()];
    template = await makeSourceTemplate(test);
  });
  afterAll(() => hosted.stop());

  const limit = async ({ workspaceId }: Customer, concurrent_syncs: number | null) => {
    const answer = await test.request('PUT', `/api/v1/workspaces/${workspaceId}/quotas`, {
      body: { concurrent_syncs },
    });
    expect(answer.status, answer.text).toBe(200);
  };
  const settle = async () => {
    const { db } = test.app.store;
    const due = async () => {
      await hosted.letSettle();
      await test.app.workers.setUps.pass();
      return (await db.selectFrom('sources').select('id').where('due_at', 'is not', null).execute()).length;
    };
    await expect.poll(due, patience).toBe(0);
  };
  const connectionsOf = async (who: Customer): Promise<string[]> =>
    (await who.request('GET', '/connections')).body.data.map(({ id }: { id: string }) => id);
  const ask = (on: TestApp, { token }: Customer, id: string) =>
    on.request('POST', `/api/v1/embedded/connections/${id}/sync`, { token });
  /** On a busy machine, a request may wait too long for the workspace and gets a retryable error. */
  const start = async (on: TestApp, who: Customer, id: string): Promise<Answer> => {
    const answer = await ask(on, who, id);
    return answer.headers['x-inlay-error'] === 'storage_unavailable' ? await start(on, who, id) : answer;
  };
  const endAll = async (who: Customer) => {
    const open = await test.app.store.db
      .selectFrom('jobs')
      .select('connection_id')
      .where('workspace_id', '=', who.workspaceId)
      .where('ended_at', 'is', null)
      .execute();
    for (const { connection_id } of open) {
      const answer = await who.request('POST', `/connections/${connection_id}/cancel`);
      expect(answer.status, answer.text).toBe(200);
    }
  };

  it('bounds syncs that are requested in parallel, on any number of replicas', async () => {
    await makeConnectionTemplate(test, { tags: ['asked'] });
    const acme = await customer(test, 'acme');
    for (let n = 0; n < 4; n++) await acme.connect(template, { selected_connection_template_tags: ['asked'] });
    await settle();
    const ids = await connectionsOf(acme);
    expect(ids).toHaveLength(4);
    await limit(acme, 1);
    for (let round = 0; round < 3; round++) {
      const from = faulty.sent.length;
      const answers = await Promise.all(ids.map((id, index) => start(replicas[index % 2] as TestApp, acme, id)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      expect(answers.find(({ status }) => status === 409)?.headers['x-inlay-error-parameters']).toBe(
        'quota=concurrent_syncs; limit=1',
      );
      expect(faulty.sent.slice(from).filter(isStart)).toHaveLength(1);
      await endAll(acme);
    }

    // A sync whose start was certainly refused counts no longer; one whose answer was lost may run.
    const [one, other] = ids as [string, string];
    const mend = faulty.rule(first(1, isStart, unreachable));
    expect((await start(test, acme, one)).status).toBe(503);
    mend();
    const heal = faulty.rule(first(1, isStart, lostAnswer));
    expect((await start(test, acme, one)).status).toBeGreaterThanOrEqual(500);
    heal();
    expect((await start(test, acme, other)).status).toBe(409);
    await test.app.workers.jobWatch.pass();
    expect((await start(test, acme, other)).status).toBe(409);
    await endAll(acme);
    await test.app.store.db.updateTable('connections').set({ starting_until: 1 }).where('id', '=', one).execute();
    expect((await start(test, acme, other)).status).toBe(200);
    await endAll(acme);
  });

  it('lets first syncs wait for each other, and start when one has ended', async () => {
    await makeConnectionTemplate(test, { tags: ['first'], sync_on_create: true });
    const beta = await customer(test, 'beta');
    await limit(beta, 1);
    const from = faulty.sent.length;
    for (let n = 0; n < 3; n++) await beta.connect(template, { selected_connection_template_tags: ['first'] });
    for (let started = 1; started <= 3; started++) {
      await settle();
      expect(faulty.sent.slice(from).filter(isStart)).toHaveLength(started);
      await endAll(beta);
    }
    await settle();
    expect(faulty.sent.slice(from).filter(isStart)).toHaveLength(3);
  });
});
