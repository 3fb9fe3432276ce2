/** What happens to everything created from a deleted template: on both databases, on a platform as a hosted one. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { TestApp } from '../../test/support/app.ts';
import { describeInTurns } from '../../test/support/databases.ts';
import { type FaultyPlatform, first, lostAnswer, unreachable } from '../../test/support/faults.ts';
import { type HostedApp, startHostedApp } from '../../test/support/hosted-app.ts';
import {
  type Customer,
  customer,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
} from '../../test/support/pipelines.ts';

const templates = '/api/v1/integrations/templates';
const patience = { timeout: 300_000, interval: 50 };

describeInTurns('A template that is deleted', (kind, it) => {
  let hosted: HostedApp;
  let test: TestApp;
  let faulty: FaultyPlatform;
  let replicas: TestApp[];
  beforeAll(async () => {
    hosted = await startHostedApp(kind);
    ({ test, faulty } = hosted);
    replicas = [test, await hosted.startReplica()];
  });
  afterAll(() => hosted.stop());

  const send = async (method: string, path: string, body?: object) => {
    const answer = await test.request(method, `${templates}/${path}`, { body });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const pass = async () => {
    await Promise.all(replicas.map(({ app }) => app.workers.rollouts.pass()));
    await hosted.letSettle();
    await Promise.all(replicas.map(({ app }) => app.workers.setUps.pass()));
    await test.app.workers.reconciler.pass();
  };
  const settle = async () => {
    const { db } = test.app.store;
    const leftToDo = async () => {
      await pass();
      const open = await db.selectFrom('rollouts').select('id').where('state', '=', 'running').execute();
      const due = await db.selectFrom('sources').select('id').where('due_at', 'is not', null).execute();
      return open.length + due.length;
    };
    await expect.poll(leftToDo, patience).toBe(0);
  };
  const setStatus = async ({ workspaceId }: Customer, status: string) => {
    // After an outage the service spares the platform for a moment.
    const ask = () => test.request('PUT', `/api/v1/workspaces/${workspaceId}`, { body: { status } });
    await expect.poll(async () => (await ask()).status, patience).toBe(200);
  };
  const countsOf = async ({ workspaceId }: Customer) => {
    const { sources, destinations, connections } = await onPlatform(hosted.host, workspaceId);
    const statuses = connections.map(({ status }: { status: string }) => status).sort();
    return { sources: sources.length, destinations: destinations.length, statuses };
  };

  it('leaves what was made from it as it is, or pauses it for good, through an outage and with nothing enabled', async () => {
    const source = await makeSourceTemplate(test);
    const [kept, template] = [await makeConnectionTemplate(test), await makeConnectionTemplate(test)];
    const [one, two] = [await customer(test, 'one'), await customer(test, 'two')];
    for (const who of [one, two]) await who.connect(source);
    await settle();
    await setStatus(two, 'inactive');

    const asked = await send('DELETE', `connections/${kept}`);
    expect(Object.keys(asked).sort()).toEqual(['deleted_at', 'id']);
    await settle();
    expect(await countsOf(one)).toMatchObject({ statuses: ['active', 'active'] });

    const mend = faulty.rule(unreachable(({ path }) => path.startsWith('/connections/')));
    const { rollout_id } = await send('DELETE', `connections/${template}?existing=pause`);
    const rollout = `connections/${template}/rollouts/${rollout_id}`;
    for (let times = 0; times < 3; times++) await pass();
    expect(await send('GET', rollout)).toMatchObject({
      action: 'pause',
      state: 'running',
      workspaces: { total: 2, changing: 2, failed: 0 },
    });
    expect((await test.request('GET', `${templates}/connections/${template}`)).status).toBe(404);
    mend();
    await settle();
    expect(await send('GET', rollout)).toMatchObject({ state: 'finished', workspaces: { total: 2, done: 2 } });
    expect(await countsOf(one)).toEqual({ sources: 1, destinations: 2, statuses: ['active', 'inactive'] });
    expect(await countsOf(two)).toMatchObject({ statuses: ['inactive', 'inactive'] });
    await setStatus(two, 'active');
    await settle();
    expect(await countsOf(two), 'a paused one is not enabled with its workspace').toMatchObject({
      statuses: ['active', 'inactive'],
    });
    expect((await send('GET', `${rollout}/workspaces`)).data).toMatchObject([{ state: 'done' }, { state: 'done' }]);
  });

  it('takes what was made from it along, once, although answers are lost', async () => {
    const [mine, other] = [await makeSourceTemplate(test), await makeSourceTemplate(test)];
    const [template, files] = [await makeConnectionTemplate(test), await makeConnectionTemplate(test)];
    const three = await customer(test, 'three');
    for (const source of [mine, other]) await three.connect(source);
    await settle();
    expect(await countsOf(three)).toEqual({ sources: 2, destinations: 2, statuses: Array(4).fill('active') });

    faulty.rule(first(3, ({ method }) => method === 'DELETE', lostAnswer));
    const { rollout_id } = await send('DELETE', `connections/${template}?existing=delete`);
    expect(
      (await three.request('GET', '/connections')).body.data.length,
      'customers see it go when the rollout reaches them',
    ).toBeGreaterThan(0);
    await settle();
    expect(await countsOf(three)).toEqual({ sources: 2, destinations: 1, statuses: ['active', 'active'] });
    expect((await three.request('GET', '/connections')).body.data).toHaveLength(2);
    expect(await send('GET', `connections/${template}/rollouts/${rollout_id}`)).toMatchObject({
      action: 'delete',
      state: 'finished',
      workspaces: { total: 1, done: 1 },
    });

    const removal = await send('DELETE', `sources/${mine}?existing=delete`);
    await settle();
    expect(await countsOf(three)).toEqual({ sources: 1, destinations: 1, statuses: ['active'] });
    const [left] = (await three.request('GET', '/sources')).body.data;
    expect(left.summarized_source_template.id).toBe(other);
    expect(await send('GET', `sources/${mine}/rollouts/${removal.rollout_id}`)).toMatchObject({ state: 'finished' });
    await send('DELETE', `sources/${other}?existing=pause`);
    await settle();
    expect(await countsOf(three)).toEqual({ sources: 1, destinations: 1, statuses: ['inactive'] });
    await send('DELETE', `connections/${files}`);
  });

  it('removes destinations whose sources were deleted earlier, or are being deleted, or whose create was not answered', async () => {
    const source = await makeSourceTemplate(test);
    const template = await makeConnectionTemplate(test);
    const names = ['left', 'leaving', 'unanswered'];
    const [left, leaving, unanswered] = (await Promise.all(names.map((name) => customer(test, name)))) as [
      Customer,
      Customer,
      Customer,
    ];
    const remove = async (who: Customer, id: string) => (await who.request('DELETE', `/sources/${id}`)).status;
    const [first, second] = [await left.connect(source), await leaving.connect(source)];
    await settle();
    expect(await remove(left, first)).toBe(200);

    const isMade = ({ method, path }: { method: string; path: string }) =>
      method === 'POST' && path === '/destinations';
    const answerLost = faulty.rule(lostAnswer(isMade));
    const third = await unanswered.connect(source);
    await expect.poll(async () => (await countsOf(unanswered)).destinations, patience).toBe(1);
    await expect.poll(() => remove(unanswered, third), patience).not.toBe(500);
    await settle();
    answerLost();

    const isDeleted = ({ method, path }: { method: string; path: string }) =>
      method === 'DELETE' && path.startsWith('/sources/');
    const mend = faulty.rule(unreachable(isDeleted));
    expect(await remove(leaving, second)).not.toBe(200);
    for (const who of [left, leaving, unanswered]) expect((await countsOf(who)).destinations).toBe(1);

    const { rollout_id } = await send('DELETE', `connections/${template}?existing=delete`);
    for (let times = 0; times < 3; times++) await pass();
    expect(await send('GET', `connections/${template}/rollouts/${rollout_id}`)).toMatchObject({ state: 'running' });
    mend();
    await settle();
    const nothing = { sources: 0, destinations: 0, statuses: [] };
    for (const who of [left, leaving, unanswered]) expect(await countsOf(who)).toEqual(nothing);
    expect(await send('GET', `connections/${template}/rollouts/${rollout_id}`)).toMatchObject({
      state: 'finished',
      workspaces: { total: 3, done: 3 },
    });
  });

  it('also ends a source that was being made while the template was deleted', async () => {
    const source = await makeSourceTemplate(test);
    const template = await makeConnectionTemplate(test);
    const [four, late] = [await customer(test, 'four'), await customer(test, 'late')];
    await four.connect(source);
    await settle();
    const { rollout_id } = await send('DELETE', `connections/${template}?existing=pause`);
    // As if its request had read the templates just before.
    const { db } = test.app.store;
    const bring = (deleted_at: number | null) =>
      db.updateTable('connection_templates').set({ deleted_at }).where('id', '=', template).execute();
    await bring(null);
    await late.connect(source);
    await bring(1);
    await settle();
    expect(await countsOf(late)).toMatchObject({ statuses: ['inactive'] });
    expect(await send('GET', `connections/${template}/rollouts/${rollout_id}`)).toMatchObject({
      state: 'finished',
      workspaces: { total: 2, done: 2 },
    });
  });
});
