/**
 * The warehouse's password is rotated for all customers by two replicas: plan, stages by tags and percent, pause, a process that
 * dies, a failing tenth that stops it, rollback, and again. On both databases, on a platform as a hosted one. With a real
 * kill -9 and 1,000 customers: server/test/faults/rollouts.long.test.ts.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import type { TestApp } from '../../test/support/app.ts';
import { describeOnBothDatabases } from '../../test/support/databases.ts';
import { answering } from '../../test/support/faults.ts';
import { type HostedApp, startHostedApp } from '../../test/support/hosted-app.ts';
import {
  customer,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
  postgresDestination,
} from '../../test/support/pipelines.ts';

const count = isLongRun ? 100 : 10;
const patience = { timeout: 300_000 + count * 2_000, interval: 50 };
const warehouse = { host: 'warehouse.example', port: 5432, database: 'dw', username: 'loader' };

describeOnBothDatabases('A password that is rotated for all customers', (kind) => {
  let hosted: HostedApp;
  let test: TestApp;
  let replicas: TestApp[];
  beforeAll(async () => {
    hosted = await startHostedApp(kind);
    ({ test } = hosted);
    replicas = [test, await hosted.startReplica()];
  });
  afterAll(() => hosted.stop());

  const send = async (method: string, path: string, body?: object) => {
    const answer = await test.request(method, `/api/v1/integrations/templates/${path}`, { body });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  /** Both replicas look at the rollouts at the same moment, and then at the sources. */
  const passes = async () => {
    await Promise.all(replicas.map(({ app }) => app.workers.rollouts.pass()));
    await hosted.letSettle();
    await Promise.all(replicas.map(({ app }) => app.workers.setUps.pass()));
  };
  const settle = async () => {
    const { db } = test.app.store;
    const leftToDo = async () => {
      await passes();
      const open = await db.selectFrom('rollouts').select('id').where('state', '=', 'running').execute();
      const changing = await db.selectFrom('rollout_items').select('state').where('state', '=', 'changing').execute();
      const due = await db.selectFrom('sources').select('id').where('due_at', 'is not', null).execute();
      return open.length + changing.length + due.length;
    };
    await expect.poll(leftToDo, patience).toBe(0);
  };
  /** How often the platform has received each destination's password since then, by password. */
  const told = (from: number) => {
    const byDestination = new Map<string, string[]>();
    for (const { method, path, body } of hosted.faulty.sent.slice(from)) {
      if (method !== 'PUT' || !path.startsWith('/destinations/')) continue;
      const { password } = JSON.parse(String(body)).configuration;
      byDestination.set(path, [...(byDestination.get(path) ?? []), password]);
    }
    return byDestination;
  };

  it('ends on one version everywhere, with nothing lost and nothing doubled', {
    timeout: patience.timeout * 4,
  }, async () => {
    const [beta, plain] = [await makeSourceTemplate(test, { tags: ['beta'] }), await makeSourceTemplate(test)];
    const template = await makeConnectionTemplate(test, {
      destination_definition_id: postgresDestination,
      destination_config: { ...warehouse, password: 'one' },
    });
    const at = `connections/${template}`;
    const ids: string[] = [];
    for (let n = 0; n < count; n++) {
      const who = await customer(test, `customer-${n}`);
      await who.connect(n % 10 === 0 ? beta : plain);
      ids.push(who.workspaceId);
    }
    await settle();

    const plan = await send('POST', `${at}/plan`, {
      skip_check: true,
      destination_config: { ...warehouse, password: 'two' },
      apply: { stages: [{ tags: ['beta'] }, { percent: 50 }], pause_between_stages: true, stop_at_failed_percent: 5 },
    });
    expect(plan).toMatchObject({
      touches: { workspaces: count, sources: count, connections: count },
      outcomes: { changes: count, breaks: 0 },
    });
    const { rollout_id } = await send('PATCH', at, { plan_id: plan.plan_id });
    const rollout = `${at}/rollouts/${rollout_id}`;

    // Paused before it has begun: nobody is changed.
    expect(await send('POST', `${rollout}/pause`)).toMatchObject({ state: 'paused', workspaces: { waiting: count } });
    const start = hosted.faulty.sent.length;
    await passes();
    expect(told(start).size).toBe(0);
    expect(await send('GET', rollout)).toMatchObject({ state: 'paused', workspaces: { waiting: count } });
    await send('POST', `${rollout}/resume`);

    // A process was killed while it worked on the rollout: the others wait for its lease and then continue.
    const { db } = test.app.store;
    const lease = (until: number) =>
      db.updateTable('rollouts').set({ lease_id: 'killed', lease_until: until }).where('id', '=', rollout_id).execute();
    await lease((await test.app.store.now()) + 60_000);
    await passes();
    expect(told(start).size).toBe(0);
    await lease(1);

    await settle();
    const tagged = ids.filter((_, n) => n % 10 === 0);
    expect(await send('GET', rollout)).toMatchObject({
      state: 'paused',
      stage: 2,
      workspaces: { done: tagged.length },
    });
    const { data: first } = await send('GET', `${rollout}/workspaces?state=done&limit=100`);
    expect(first.map(({ workspace_id }: { workspace_id: string }) => workspace_id)).toEqual(tagged.toSorted());

    // A tenth fails, and the rollout stops automatically.
    const failing = new Set<string>();
    for (const id of ids.filter((_, n) => n % 10 === 5)) {
      for (const { destinationId } of (await onPlatform(hosted.host, id)).destinations) failing.add(destinationId);
    }
    const mend = hosted.faulty.rule(
      answering(({ method, path }) => method === 'PUT' && failing.has(path.split('/')[2] ?? ''), 422, '{}'),
    );
    const goOn = async () => {
      await settle();
      const present = await send('GET', rollout);
      if (present.state === 'paused') await send('POST', `${rollout}/resume`);
      return present.state;
    };
    await expect.poll(goOn, patience).toBe('stopped');
    const stopped = await send('GET', rollout);
    expect(stopped.state_reason).toContain('Too many workspaces failed');
    const { total, waiting, changing, done, failed, skipped } = stopped.workspaces;
    expect({ total, changing, skipped }).toEqual({ total: count, changing: 0, skipped: 0 });
    expect(failed * 100).toBeGreaterThan(5 * Math.min(count, 20));
    expect(waiting + done + failed).toBe(count);
    mend();

    await send('POST', `${at}/rollback`, { version: 1 });
    await settle();
    const from = hosted.faulty.sent.length;
    const again = await send('POST', `${at}/rollback`, { version: 2 });
    await settle();
    expect(await send('GET', `${at}/rollouts/${again.rollout_id}`)).toMatchObject({
      state: 'finished',
      version: 4,
      workspaces: { total: count, done: count },
    });
    const sent = told(from);
    expect(sent.size).toBe(count);
    for (const passwords of sent.values()) expect(passwords, 'told once, whichever replica did it').toEqual(['two']);
    const rows = await db
      .selectFrom('connections')
      .innerJoin('destinations', 'destinations.id', 'connections.destination_id')
      .select(['connections.workspace_id', 'connections.applied_template_version', 'connections.failure'])
      .select('destinations.applied_template_version as had')
      .where('connections.connection_template_id', '=', template)
      .execute();
    expect(rows.map((row) => row.workspace_id).toSorted()).toEqual(ids.toSorted());
    for (const row of rows) expect(row).toMatchObject({ applied_template_version: 4, had: 4, failure: null });
    for (const id of ids) {
      const there = await onPlatform(hosted.host, id);
      expect([there.connections.length, there.destinations.length]).toEqual([1, 1]);
    }
  });
});
