/** A change of a template is planned before it is made, and made exactly as it was planned: on both databases. */
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestApp, type TestApp } from '../../test/support/app.ts';
import { describeInTurns } from '../../test/support/databases.ts';
import {
  type Customer,
  customer,
  httpApi,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
  postgresDestination,
} from '../../test/support/pipelines.ts';

const templates = '/api/v1/integrations/templates';
const warehouse = { host: '127.0.0.1', port: 1, database: 'dw', username: 'loader', ssl_mode: { mode: 'disable' } };

describeInTurns('A plan', (kind, it) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp(kind);
  });
  afterAll(() => test.stop());

  const ask = (method: string, path: string, body?: object) => test.request(method, `${templates}/${path}`, { body });
  const send = async (method: string, path: string, body?: object) => {
    const answer = await ask(method, path, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const refusal = async (method: string, path: string, body?: object) => {
    const { status, headers } = await ask(method, path, body);
    return [status, headers['x-inlay-error']];
  };
  const settle = async () => {
    const { db } = test.app.store;
    const leftToDo = async () => {
      await test.app.workers.rollouts.pass();
      await test.app.workers.setUps.pass();
      const open = await db.selectFrom('rollouts').select('id').where('state', '=', 'running').execute();
      const due = await db.selectFrom('sources').select('id').where('due_at', 'is not', null).execute();
      return open.length + due.length;
    };
    await expect.poll(leftToDo).toBe(0);
  };

  it('of a connection template reports what a rollout would do, does nothing, and is applied exactly', async () => {
    const source = await makeSourceTemplate(test);
    const template = await makeConnectionTemplate(test, {
      destination_definition_id: postgresDestination,
      destination_config: { ...warehouse, password: 'first secret' },
      tags: ['planned'],
    });
    const at = `connections/${template}`;
    const selected = { selected_connection_template_tags: ['planned'] };
    const customers: Customer[] = [];
    for (const name of ['one', 'two', 'three']) customers.push(await customer(test, name));
    const [one, two] = customers as [Customer, Customer, Customer];
    for (const who of customers) await who.connect(source, selected);
    await one.connect(source, { ...selected, name: 'Second shop' });
    await settle();
    // Someone has chosen this schedule for one connection already.
    const cron = '0 15 3 * * ?';
    await test.app.store.db
      .updateTable('connections')
      .set({ cron_expression: cron })
      .where('workspace_id', '=', two.workspaceId)
      .execute();

    const change = {
      destination_config: { ...warehouse, password: 'second secret' },
      cron_expression: cron,
      prefix: 'moved_{workspace_id}_',
    };
    const before = await onPlatform(test, one.workspaceId);
    const plan = await send('POST', `${at}/plan`, change);
    expect(plan).toMatchObject({
      template_id: template,
      base_version: 1,
      touches: { workspaces: 3, sources: 4, connections: 4 },
      outcomes: { changes: 0, unchanged: 0, needs_customer: 0, breaks: 4 },
      data: { streams_dropped: 0, tables_moved: 4 },
      destination: {
        verdict: 'fails',
        message: expect.any(String),
        field: expect.arrayContaining(['destination_config']),
      },
      apply: 'new_only',
    });
    expect(plan.changes.map(({ path }: { path: string[] }) => path.join('.')).sort()).toEqual([
      'cron_expression',
      'destination_config.password',
      'prefix',
    ]);
    expect(JSON.stringify(plan)).not.toContain('secret');
    // The same change, as PATCH makes it: a destination that does not work is refused, unless it is not tested.
    expect(await refusal('PATCH', at, { plan_id: plan.plan_id, apply: 'all' })).toEqual([422, 'invalid_request']);

    const untested = await send('POST', `${at}/plan`, { ...change, skip_check: true, apply: 'all' });
    expect(untested).toMatchObject({
      outcomes: { changes: 4, unchanged: 0, needs_customer: 0, breaks: 0 },
      destination: { verdict: 'not_checked', message: null, field: null },
    });
    const items = [];
    let cursor = '';
    do {
      const page = await send('GET', `${at}/plans/${untested.plan_id}/items?limit=3${cursor}`);
      items.push(...page.data);
      cursor = page.next === null ? '' : `&cursor=${page.next}`;
    } while (cursor);
    expect(items).toHaveLength(4);
    expect(new Set(items.map(({ connection_id }) => connection_id)).size).toBe(4);
    for (const item of items) {
      const spaced = item.workspace_id.replaceAll('-', '_');
      const isTwo = item.workspace_id === two.workspaceId;
      expect(item).toMatchObject({
        version: 1,
        outcome: 'changes',
        fields: isTwo ? ['destination_config'] : ['destination_config', 'cron_expression'],
        tables_moved: { to: { namespace_format: `workspace_${spaced}`, prefix: `moved_${spaced}_` } },
      });
    }
    expect((await send('GET', `${at}/plans/${untested.plan_id}/items?outcome=breaks`)).data).toEqual([]);
    expect(await send('GET', `${at}/plans/${untested.plan_id}`)).toEqual(untested);

    expect((await send('GET', at)).version, 'a plan makes no version').toBe(1);
    expect(await onPlatform(test, one.workspaceId)).toEqual(before);
    const { rows } = await readAll(test);
    expect(rows).not.toMatch(/(first|second) secret/);

    const both = { plan_id: untested.plan_id, cron_expression: null };
    expect(await refusal('PATCH', at, both)).toEqual([422, 'invalid_request']);
    expect(await refusal('PATCH', at, { plan_id: untested.plan_id, apply: { move_data: true } })).toEqual([
      422,
      'invalid_request',
    ]);
    const applied = await send('PATCH', at, { plan_id: untested.plan_id });
    expect(applied).toMatchObject({ version: 2, cron_expression: cron, rollout_id: expect.any(String) });
    await settle();
    const done = await send('GET', `${at}/rollouts/${applied.rollout_id}`);
    expect(done).toMatchObject({ state: 'finished', workspaces: { total: 3, done: 3 } });
    expect((await send('GET', `${at}/versions`)).data[0].changes).toEqual(untested.changes);

    expect(await refusal('PATCH', at, { plan_id: untested.plan_id }), 'it is applied once').toEqual([
      409,
      'plan_outdated',
    ]);
    // Who has everything is named as unchanged.
    const again = await send('POST', `${at}/plan`, { sync_on_create: true, apply: 'all' });
    expect(again).toMatchObject({ touches: { workspaces: 0, sources: 0, connections: 0 }, outcomes: { unchanged: 4 } });
    const moving = await send('POST', `${at}/plan`, { apply: { move_data: true } });
    expect(moving).toMatchObject({ changes: [], outcomes: { changes: 4 }, data: { tables_moved: 4 } });
  });

  it('of a source template reports who has to give something, who breaks, and which streams are dropped', async () => {
    const template = await makeSourceTemplate(test, { partial_default_config: { seed: 1, count: 20 } });
    const [giving, lacking] = [await customer(test, 'giving'), await customer(test, 'lacking')];
    const given = await giving.connect(template, { selected_connection_template_tags: ['none'] });
    const missing = await lacking.connect(template, {
      source_config: {},
      selected_connection_template_tags: ['none'],
    });
    await settle();
    const at = `sources/${template}`;
    const plan = await send('POST', `${at}/plan`, {
      partial_default_config: { seed: 2 },
      customization: { stream_selection_mode: 'whitelist', stream_whitelist: ['users'] },
    });
    expect(plan).toMatchObject({
      touches: { workspaces: 2, sources: 2, connections: 0 },
      outcomes: { changes: 1, unchanged: 0, needs_customer: 1, breaks: 0 },
      data: { streams_dropped: 2, tables_moved: 0 },
      destination: { verdict: 'not_checked' },
    });
    const { data } = await send('GET', `${at}/plans/${plan.plan_id}/items?outcome=needs_customer`);
    expect(data).toEqual([
      {
        workspace_id: lacking.workspaceId,
        workspace_name: 'lacking',
        source_id: missing,
        connection_id: null,
        version: 1,
        outcome: 'needs_customer',
        reason: expect.stringContaining(' count '),
        fields: ['partial_default_config', 'customization'],
        streams_dropped: [],
        streams_left: ['users'],
        tables_moved: null,
      },
    ]);
    expect((await send('GET', `${at}/plans/${plan.plan_id}/items?outcome=changes`)).data).toMatchObject([
      { source_id: given, reason: null },
    ]);

    const narrowed = await send('PATCH', at, { plan_id: plan.plan_id, apply: 'new_only' });
    expect(narrowed).toMatchObject({ version: 2, partial_default_config: { seed: 2 } });
    expect(narrowed.rollout_id).toBeUndefined();

    const api = await makeSourceTemplate(test, {
      actor_definition_id: httpApi,
      partial_default_config: {
        base_url: 'https://api.example.com',
        streams: [{ name: 'users', path: '/users' }],
        authentication: { type: 'bearer' },
      },
    });
    const broken = await giving.connect(api, {
      name: 'API',
      source_config: { authentication: { token: 't', username: 'no:colon', password: 'p' } },
      selected_connection_template_tags: ['none'],
    });
    const other = await send('POST', `sources/${api}/plan`, {
      partial_default_config: {
        base_url: 'https://api.example.com',
        streams: [{ name: 'users', path: '/users' }],
        authentication: { type: 'basic' },
      },
      propagate: true,
    });
    expect(other).toMatchObject({ outcomes: { changes: 0, needs_customer: 0, breaks: 1 }, apply: 'all' });
    expect((await send('GET', `sources/${api}/plans/${other.plan_id}/items`)).data).toMatchObject([
      {
        source_id: broken,
        outcome: 'breaks',
        reason: expect.stringMatching(/^The connector rejects .*username: /),
      },
    ]);
  });

  it('holds until the template or what it counts changes, and for a day', async () => {
    const template = await makeSourceTemplate(test);
    const nobody = { selected_connection_template_tags: ['none'] };
    const who = await customer(test, 'steady');
    const id = await who.connect(template, nobody);
    await settle();
    const at = `sources/${template}`;
    const plan = async () => (await send('POST', `${at}/plan`, { name: 'New', apply: 'all' })).plan_id;
    const outdated = [409, 'plan_outdated'];

    let plan_id = await plan();
    await who.connect(template, { ...nobody, name: 'Another' });
    expect(await refusal('PATCH', at, { plan_id }), 'a source was made').toEqual(outdated);

    plan_id = await plan();
    await who.request('PUT', `/sources/${id}`, { source_config: { count: 11 } });
    expect(await refusal('PATCH', at, { plan_id }), 'a source was changed').toEqual(outdated);

    plan_id = await plan();
    await settle();
    expect((await who.request('DELETE', `/sources/${id}`)).status).toBe(200);
    expect(await refusal('PATCH', at, { plan_id }), 'a source was deleted').toEqual(outdated);
    // A change for new customers alone touches none of them.
    await send('PATCH', at, { plan_id, apply: 'new_only' });

    plan_id = await plan();
    await send('PATCH', at, { description: 'Another' });
    expect(await refusal('PATCH', at, { plan_id, apply: 'new_only' }), 'the template was changed').toEqual(outdated);

    plan_id = await plan();
    const other = await makeSourceTemplate(test);
    const notFound = [404, 'plan_not_found'];
    expect(await refusal('PATCH', `sources/${other}`, { plan_id }), 'of another template').toEqual(notFound);
    const { db } = test.app.store;
    await db.updateTable('template_plans').set({ expires_at: 1 }).execute();
    expect(await refusal('PATCH', at, { plan_id })).toEqual(notFound);
    expect(await refusal('GET', `${at}/plans/${plan_id}/items`)).toEqual(notFound);
    for (let times = 0; times < 5; times++) await test.app.keepHouse();
    for (const table of ['template_plans', 'template_plan_items'] as const) {
      expect(await db.selectFrom(table).selectAll().execute()).toEqual([]);
    }
    // Someone who plans again and again leaves only the last ones.
    for (let times = 0; times < 12; times++) await plan();
    expect(await db.selectFrom('template_plans').select('id').execute()).toHaveLength(10);
  });
});

async function readAll({ app }: TestApp) {
  const plans = await app.store.db.selectFrom('template_plans').selectAll().execute();
  const items = await app.store.db.selectFrom('template_plan_items').selectAll().execute();
  return { rows: JSON.stringify([plans, items]) };
}
