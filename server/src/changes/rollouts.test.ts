/** A change of a template reaches what was made from it before: on both databases, and on a platform as a hosted one. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { TestApp } from '../../test/support/app.ts';
import { describeInTurns } from '../../test/support/databases.ts';
import {
  answering,
  type FaultyPlatform,
  first,
  isConnectionPatch,
  lostAnswer,
  type Match,
} from '../../test/support/faults.ts';
import { type HostedApp, startHostedApp } from '../../test/support/hosted-app.ts';
import {
  type Customer,
  customer,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
  postgresDestination,
  postgresSource,
} from '../../test/support/pipelines.ts';

const templates = '/api/v1/integrations/templates';
const patience = { timeout: 300_000, interval: 50 };
const warehouse = { host: 'warehouse.example', port: 5432, database: 'dw', username: 'loader' };

const isPut =
  (under: string): Match =>
  ({ method, path }) =>
    method === 'PUT' && path.startsWith(under);

/** Passes of the workers until nothing is left to do, every settle window over. */
async function settleRollouts({ test, letSettle }: HostedApp): Promise<void> {
  const { db } = test.app.store;
  const leftToDo = async () => {
    await test.app.workers.rollouts.pass();
    await letSettle();
    await test.app.workers.setUps.pass();
    const open = await db.selectFrom('rollouts').select('id').where('state', '=', 'running').execute();
    const changing = await db.selectFrom('rollout_items').select('state').where('state', '=', 'changing').execute();
    const due = await db.selectFrom('sources').select('id').where('due_at', 'is not', null).execute();
    return open.length + changing.length + due.length;
  };
  await expect.poll(leftToDo, patience).toBe(0);
}

describeInTurns('A rollout', (kind, it) => {
  let hosted: HostedApp;
  let test: TestApp;
  let faulty: FaultyPlatform;
  let sourceTemplate: string;
  beforeAll(async () => {
    hosted = await startHostedApp(kind);
    ({ test, faulty } = hosted);
    sourceTemplate = await makeSourceTemplate(test, { tags: ['beta'] });
  });
  afterAll(() => hosted.stop());

  const send = async (method: string, path: string, body?: object) => {
    const answer = await test.request(method, `${templates}/${path}`, { body });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const settle = () => settleRollouts(hosted);
  const connect = async (who: Customer, body: object = {}) => {
    const id = await who.connect(sourceTemplate, body);
    await expect
      .poll(async () => {
        await hosted.letSettle();
        await test.app.workers.setUps.pass();
        return (await who.request('GET', `/sources/${id}`)).body.status;
      }, patience)
      .toBe('ready');
    return id;
  };
  const passwordsSent = (from: number) =>
    faulty.sent
      .slice(from)
      .filter(({ method, path }) => method === 'PUT' && path.startsWith('/destinations/'))
      .map(({ body }) => JSON.parse(String(body)).configuration.password);
  const rowOf = async (templateId: string) =>
    await test.app.store.db
      .selectFrom('connections')
      .innerJoin('destinations', 'destinations.id', 'connections.destination_id')
      .selectAll('connections')
      .select(['destinations.template_version as wanted', 'destinations.applied_template_version as had'])
      .where('connections.connection_template_id', '=', templateId)
      .execute();

  it('brings a changed password, schedule and name to existing connections with apply all, once per destination', async () => {
    const template = await makeConnectionTemplate(test, {
      destination_name: 'Warehouse',
      destination_definition_id: postgresDestination,
      destination_config: { ...warehouse, password: 'old' },
    });
    const acme = await customer(test, 'acme');
    for (const name of ['Shop', 'Store']) await connect(acme, { name });
    await test.request('PUT', `/api/v1/workspaces/${acme.workspaceId}`, { body: { status: 'inactive' } });
    const before = await onPlatform(hosted.host, acme.workspaceId);

    const from = faulty.sent.length;
    const change = {
      skip_check: true,
      destination_config: { ...warehouse, password: 'new' },
      cron_expression: '0 15 3 * * ?',
    };
    const quiet = await send('PATCH', `connections/${template}`, change);
    expect(quiet).toMatchObject({ version: 2 });
    await settle();
    expect(passwordsSent(from), 'new_only is the default').toEqual([]);

    const { rollout_id, version } = await send('PATCH', `connections/${template}`, {
      destination_name: 'Lake',
      prefix: 'moved_{workspace_id}_',
      apply: 'all',
    });
    expect(version).toBe(3);
    await settle();
    expect(passwordsSent(from)).toEqual(['new']);
    const after = await onPlatform(hosted.host, acme.workspaceId);
    expect(after.connections).toHaveLength(2);
    for (const connection of after.connections) {
      const { status, prefix, schedule, name } = connection;
      const [same] = before.connections.filter(
        (one: { connectionId: string }) => one.connectionId === connection.connectionId,
      );
      // An inactive workspace stays so, and data stays where it is.
      expect({ status, prefix }).toEqual({ status: 'inactive', prefix: same.prefix });
      expect(schedule.cronExpression).toMatch(/^0 15 3 \* \* \?/);
      expect(name).toContain('→ Lake (');
    }
    expect(after.destinations[0].name).toMatch(/^Lake /);
    for (const row of await rowOf(template)) {
      expect(row).toMatchObject({ template_version: 3, applied_template_version: 3, wanted: 3, had: 3 });
    }
    const listed = await test.request('GET', `/api/v1/integrations/connections?connection_template_id=${template}`);
    const three = { wanted: 3, applied: 3 };
    for (const one of listed.body.data) {
      expect(one).toMatchObject({ template_version: three, destination_template_version: three });
    }
    for (const { template_version } of (await acme.request('GET', '/connections')).body.data) {
      expect(template_version, 'customers know of no versions').toBeUndefined();
    }
    expect(await send('GET', `connections/${template}/rollouts/${rollout_id}`)).toMatchObject({
      state: 'finished',
      version: 3,
      workspaces: { total: 1, waiting: 0, changing: 0, done: 1, failed: 0, skipped: 0 },
    });
    // Everybody has it: nothing is sent again.
    const quietly = faulty.sent.length;
    const again = await send('PATCH', `connections/${template}`, { apply: 'all' });
    await settle();
    expect(faulty.sent.slice(quietly).filter(({ method }) => method !== 'GET')).toEqual([]);
    expect((await send('GET', `connections/${template}/rollouts/${again.rollout_id}`)).workspaces.total).toBe(0);

    await send('PATCH', `connections/${template}`, { destination_name: 'Sea', apply: { move_data: true } });
    await settle();
    const moved = await onPlatform(hosted.host, acme.workspaceId);
    for (const { prefix } of moved.connections) expect(prefix).toBe(`moved_${acme.workspaceId.replaceAll('-', '_')}_`);
    await send('DELETE', `connections/${template}`);
  });

  it('reaches a destination whose connections are gone, so that the next source finds the new credentials', async () => {
    const template = await makeConnectionTemplate(test, {
      destination_definition_id: postgresDestination,
      destination_config: { ...warehouse, password: 'old' },
    });
    const config = (password: string) => ({ skip_check: true, destination_config: { ...warehouse, password } });
    const leaver = await customer(test, 'leaver');
    const remove = async (id: string) => {
      expect((await leaver.request('DELETE', `/sources/${id}`)).status).toBe(200);
    };
    await remove(await connect(leaver));
    const from = faulty.sent.length;
    const { rollout_id } = await send('PATCH', `connections/${template}`, { ...config('new'), apply: 'all' });
    await settle();
    expect(passwordsSent(from)).toEqual(['new']);
    expect(await send('GET', `connections/${template}/rollouts/${rollout_id}`)).toMatchObject({
      state: 'finished',
      workspaces: { total: 1, done: 1 },
    });
    const again = await connect(leaver);
    expect(passwordsSent(from)).toEqual(['new']);
    expect((await onPlatform(hosted.host, leaver.workspaceId)).destinations).toHaveLength(1);

    // What the platform refuses is a failure of the rollout, and nothing else waits for it.
    await remove(again);
    const mend = faulty.rule(answering(isPut('/destinations/'), 422, '{}'));
    const refused = await send('PATCH', `connections/${template}`, { ...config('refused'), apply: 'all' });
    await settle();
    const items = await send('GET', `connections/${template}/rollouts/${refused.rollout_id}/workspaces`);
    expect(items.data).toMatchObject([{ state: 'failed', reason: expect.stringContaining('the destination') }]);
    mend();

    // A new connection counts as new, even if the change was meant for new connections only.
    await send('PATCH', `connections/${template}`, config('newest'));
    await settle();
    const before = faulty.sent.length;
    await connect(leaver);
    expect(passwordsSent(before)).toEqual(['newest']);
    const live = (await rowOf(template)).filter(({ deleted_at }) => deleted_at === null);
    expect(live).toMatchObject([{ template_version: 4, wanted: 4, had: 4 }]);
    await send('DELETE', `connections/${template}`);
  });

  it('of a source template brings configuration and streams', async () => {
    const files = await makeConnectionTemplate(test);
    const bob = await customer(test, 'bob');
    const id = await connect(bob);
    const before = await onPlatform(hosted.host, bob.workspaceId);
    expect(before.connections[0].configurations.streams.length).toBeGreaterThan(1);
    const { propagated_sources, rollout_id } = await send('PATCH', `sources/${sourceTemplate}`, {
      partial_default_config: { seed: 9 },
      customization: { stream_selection_mode: 'whitelist', stream_whitelist: ['users'] },
      propagate: true,
    });
    expect(propagated_sources).toBeGreaterThan(0);
    await settle();
    const after = await onPlatform(hosted.host, bob.workspaceId);
    expect(after.sources[0].configuration).toMatchObject({ seed: 9, count: 10 });
    expect(after.connections[0].configurations.streams.map(({ name }: { name: string }) => name)).toEqual(['users']);
    expect(after.connections[0].connectionId).toBe(before.connections[0].connectionId);
    expect(await send('GET', `sources/${sourceTemplate}/rollouts/${rollout_id}`)).toMatchObject({ state: 'finished' });
    const row = await test.app.store.db
      .selectFrom('sources')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row.applied_template_version).toBe(2);
    await send('DELETE', `connections/${files}`);
  });

  it('leaves a source as it is whose customer has to give a new required field, until the customer gives it', async () => {
    const files = await makeConnectionTemplate(test);
    const template = await makeSourceTemplate(test, { partial_default_config: { seed: 1, count: 20 } });
    const [giving, lacking] = [await customer(test, 'giving'), await customer(test, 'lacking')];
    const given = await connect(giving, { source_template_id: template, source_config: { count: 30 } });
    const missing = await connect(lacking, { source_template_id: template, source_config: {} });
    const configured = async (who: Customer) =>
      (await onPlatform(hosted.host, who.workspaceId)).sources[0].configuration;
    const versions = async (id: string) =>
      await test.app.store.db
        .selectFrom('sources')
        .select(['template_version', 'applied_template_version'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();

    const at = `sources/${template}`;
    const { rollout_id } = await send('PATCH', at, {
      partial_default_config: { seed: 2 },
      customization: { stream_selection_mode: 'whitelist', stream_whitelist: ['users'] },
      apply: 'all',
    });
    await settle();
    const streams = async (who: Customer) =>
      (await onPlatform(hosted.host, who.workspaceId)).connections[0].configurations.streams.length;
    const items = async (id: string) => (await send('GET', `${at}/rollouts/${id}/workspaces`)).data;
    const skipped = {
      workspace_id: lacking.workspaceId,
      state: 'skipped',
      reason: 'The customer has to enter count first: field required.',
    };
    expect(await items(rollout_id)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ workspace_id: giving.workspaceId, state: 'done' }),
        expect.objectContaining(skipped),
      ]),
    );
    expect(await configured(giving)).toMatchObject({ seed: 2, count: 30 });
    expect(await streams(giving)).toBe(1);
    expect(await configured(lacking)).toMatchObject({ seed: 1, count: 20 });
    expect(await streams(lacking)).toBeGreaterThan(1);
    expect(await versions(given)).toEqual({ template_version: 2, applied_template_version: 2 });
    expect(await versions(missing)).toEqual({ template_version: 2, applied_template_version: 1 });

    // A later change of something else does not count as having brought the earlier one.
    const later = await send('PATCH', at, { name: 'Renamed', apply: 'all' });
    await settle();
    expect(await items(later.rollout_id)).toEqual(expect.arrayContaining([expect.objectContaining(skipped)]));
    expect(await versions(missing)).toEqual({ template_version: 3, applied_template_version: 1 });

    const sources = '/api/v1/integrations/sources';
    const waiting = { template_version: { wanted: 3, applied: 1 } };
    const within = `workspace_id=${lacking.workspaceId}`;
    expect((await test.request('GET', `${sources}?source_template_id=${template}&${within}`)).body.data).toMatchObject([
      waiting,
    ]);
    expect((await test.request('GET', `${sources}/${missing}?${within}`)).body).toMatchObject(waiting);
    expect((await lacking.request('GET', `/sources/${missing}`)).body.template_version).toBeUndefined();

    const edit = await lacking.request('PUT', `/sources/${missing}`, { source_config: { count: 40 } });
    expect(edit.status, edit.text).toBe(200);
    await settle();
    expect(await configured(lacking)).toMatchObject({ seed: 2, count: 40 });
    expect(await streams(lacking)).toBe(1);
    expect(await versions(missing)).toEqual({ template_version: 3, applied_template_version: 3 });
    await send('DELETE', `connections/${files}`);
  });

  it('sends secrets of customers to a new address only if someone with the permission full rolls it out', async () => {
    const { token } = (
      await test.request('POST', '/api/v1/operator-tokens', { body: { name: 'insider', permission: 'operator' } })
    ).body;
    const defaults = { host: '127.0.0.1', port: 9, database: 'shop' };
    const id = await makeSourceTemplate(test, {
      ...{ actor_definition_id: postgresSource, name: 'Shop', partial_default_config: defaults },
    });
    const carol = await customer(test, 'carol');
    const given = { username: 'carol', password: 'entered-for-the-first-host' };
    const source = await carol.connect(id, { source_config: given });
    await settle();
    const configured = async () => {
      await settle();
      return (await onPlatform(hosted.host, carol.workspaceId)).sources[0].configuration;
    };
    expect(await configured()).toMatchObject({ host: '127.0.0.1' });
    const at = `${templates}/sources/${id}`;
    const byOperator = async (method: string, path: string, body: object) => {
      const answer = await test.request(method, `${at}${path}`, { token, body });
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    };
    const elsewhere = { partial_default_config: { ...defaults, host: 'elsewhere.example' }, apply: 'all' };
    const reason =
      "The customer's secrets would be sent to a new address. Only a rollout with the permission full can do that.";
    const plan = await byOperator('POST', '/plan', elsewhere);
    expect(plan.outcomes).toMatchObject({ changes: 0, unchanged: 1 });
    expect((await test.request('GET', `${at}/plans/${plan.plan_id}/items`)).body.data).toMatchObject([
      { source_id: source, outcome: 'unchanged', reason },
    ]);
    const { rollout_id } = await byOperator('PATCH', '', elsewhere);
    expect(await configured()).toMatchObject({ host: '127.0.0.1' });
    const items = (await test.request('GET', `${at}/rollouts/${rollout_id}/workspaces`)).body.data;
    expect(items).toMatchObject([{ state: 'skipped', reason }]);
    // Neither by another change, nor by way of an earlier version, nor with the next edit of the customer.
    await byOperator('PATCH', '', { name: 'Renamed', apply: 'all' });
    expect(await configured()).toMatchObject({ host: '127.0.0.1' });
    await byOperator('POST', '/rollback', { version: 2 });
    expect(await configured()).toMatchObject({ host: '127.0.0.1' });
    const edit = await carol.request('PUT', `/sources/${source}`, {
      ...{ name: 'Mine', source_config: { ...given, password: '**********' } },
    });
    expect(edit.status, edit.text).toBe(200);
    expect(await configured()).toMatchObject({ host: '127.0.0.1' });
    // What is no address goes along, and so does everything if nobody keeps a secret from the operator.
    await byOperator('PATCH', '', { partial_default_config: { ...defaults, jdbc_url_params: 'a=b' }, apply: 'all' });
    await send('PATCH', `sources/${id}`, elsewhere);
    expect(await configured()).toMatchObject({ host: 'elsewhere.example', username: 'carol' });
  });

  it('continues after a lost answer as soon as the platform has confirmed the same change', async () => {
    const files = await makeConnectionTemplate(test, { tags: ['lost'] });
    const template = await makeSourceTemplate(test);
    const selected = { source_template_id: template, selected_connection_template_tags: ['lost'] };
    const [early, late] = [await customer(test, 'early'), await customer(test, 'late')];
    for (const who of [early, late]) await connect(who, selected);
    // No settle window is over before the rollout is.
    const finished = async (at: string, apply: object, change: object, lost: Match) => {
      const mend = faulty.rule(first(1, lost, lostAnswer));
      const { rollout_id } = await send('PATCH', at, { ...change, apply });
      const state = async () => {
        await test.app.workers.rollouts.pass();
        await test.app.workers.setUps.pass();
        return (await send('GET', `${at}/rollouts/${rollout_id}`)).state;
      };
      await expect.poll(state, { timeout: 60_000, interval: 100 }).toBe('finished');
      expect(await send('GET', `${at}/rollouts/${rollout_id}`)).toMatchObject({ workspaces: { total: 2, done: 2 } });
      mend();
    };
    const stages = { stages: [{ workspace_ids: [early.workspaceId] }] };
    const customization = { stream_selection_mode: 'whitelist', stream_whitelist: ['users'] };
    await finished(`sources/${template}`, stages, { customization }, isConnectionPatch);
    await finished(`sources/${template}`, stages, { partial_default_config: { seed: 4 } }, isPut('/sources/'));
    await finished(
      `connections/${files}`,
      stages,
      { skip_check: true, destination_config: { path: 'b' } },
      isPut('/destinations/'),
    );

    // What may still take effect says something else: what is wanted is written again when it no longer can.
    const mend = faulty.rule(first(1, isPut('/destinations/'), lostAnswer));
    const at = `connections/${files}`;
    await send('PATCH', at, { skip_check: true, destination_config: { path: 'c' }, apply: 'all' });
    await test.app.workers.rollouts.pass();
    await test.app.workers.setUps.pass();
    mend();
    const { rollout_id } = await send('PATCH', at, {
      skip_check: true,
      destination_config: { path: 'd' },
      apply: 'all',
    });
    for (let times = 0; times < 3; times++) {
      await test.app.workers.rollouts.pass();
      await test.app.workers.setUps.pass();
    }
    expect(await send('GET', `${at}/rollouts/${rollout_id}`)).toMatchObject({ state: 'running' });
    await settle();
    expect(await send('GET', `${at}/rollouts/${rollout_id}`)).toMatchObject({ state: 'finished' });
    await send('DELETE', at);
  });

  it('goes stage by stage, pauses, stops when too many fail, and is rolled back to one version for all', async () => {
    const template = await makeConnectionTemplate(test, {
      destination_definition_id: postgresDestination,
      destination_config: { ...warehouse, password: 'one' },
      tags: ['staged'],
    });
    const customers: Customer[] = [];
    for (let n = 1; n <= 8; n++) {
      const who = await customer(test, `staged-${n}`);
      await connect(who, { selected_connection_template_tags: ['staged'] });
      customers.push(who);
    }
    const ids = customers.map(({ workspaceId }) => workspaceId);
    const at = `connections/${template}`;
    const config = (password: string) => ({ skip_check: true, destination_config: { ...warehouse, password } });
    const plan = { stages: [{ workspace_ids: [ids[0]] }, { percent: 50 }], pause_between_stages: true };
    const { rollout_id } = await send('PATCH', at, { ...config('two'), apply: plan });
    const rollout = `${at}/rollouts/${rollout_id}`;
    await settle();
    expect(await send('GET', rollout)).toMatchObject({
      state: 'paused',
      stage: 2,
      workspaces: { waiting: 7, done: 1 },
    });
    expect((await send('GET', `${rollout}/workspaces?state=done`)).data).toMatchObject([
      { workspace_id: ids[0], stage: 1 },
    ]);

    // Half of the customers of the next stage cannot be changed.
    const next = (await send('GET', `${rollout}/workspaces?state=waiting&limit=100`)).data
      .filter(({ stage }: { stage: number }) => stage === 2)
      .map(({ workspace_id }: { workspace_id: string }) => workspace_id);
    expect(next).toHaveLength(3);
    const destinations = new Set<string>();
    for (const workspaceId of next.slice(0, 2)) {
      for (const { destinationId } of (await onPlatform(hosted.host, workspaceId)).destinations)
        destinations.add(destinationId);
    }
    const mend = faulty.rule(
      answering(({ method, path }) => method === 'PUT' && destinations.has(path.split('/')[2] ?? ''), 422, '{}'),
    );
    await send('POST', `${rollout}/resume`);
    await settle();
    expect(await send('GET', rollout)).toMatchObject({
      state: 'stopped',
      state_reason: expect.stringContaining('Too many workspaces failed'),
      workspaces: { total: 8, waiting: 4, changing: 0, done: 2, failed: 2 },
    });
    const failed = (await send('GET', `${rollout}/workspaces?state=failed`)).data;
    expect(failed[0].reason).toMatch(/rejected the destination/);
    for (const command of ['pause', 'resume', 'stop']) {
      const answer = await test.request('POST', `${templates}/${rollout}/${command}`);
      expect([answer.status, answer.headers['x-inlay-error']]).toEqual([409, 'rollout_ended']);
    }
    mend();

    const back = await send('POST', `${at}/rollback`, { version: 1 });
    expect(back).toMatchObject({ version: 3, rollout_id: expect.any(String) });
    await settle();
    expect((await send('GET', `${at}/versions`)).data[0]).toMatchObject({ version: 3, copy_of: 1 });
    const from = faulty.sent.length;
    await send('POST', `${at}/rollback`, { version: 2, apply: 'all' });
    await settle();
    expect(passwordsSent(from)).toEqual(Array(8).fill('two'));
    const rows = await rowOf(template);
    expect(rows).toHaveLength(8);
    for (const row of rows) expect(row).toMatchObject({ applied_template_version: 4, had: 4, failure: null });
    for (const who of customers) expect((await onPlatform(hosted.host, who.workspaceId)).connections).toHaveLength(1);
  });
});
