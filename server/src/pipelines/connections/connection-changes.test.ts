/** Changing, pausing, refreshing and deleting one connection: on both databases, and on a platform as a hosted one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import {
  answering,
  type FaultyPlatform,
  first,
  lateApply,
  lostAnswer,
  type Match,
} from '../../../test/support/faults.ts';
import { type HostedApp, startHostedApp } from '../../../test/support/hosted-app.ts';
import {
  type Customer,
  customer,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
} from '../../../test/support/pipelines.ts';

const integrations = '/api/v1/integrations';
const patience = { timeout: 300_000, interval: 50 };
const to =
  (method: string, path: string): Match =>
  (request) =>
    request.method === method && request.path.split('?')[0]?.startsWith(path) === true;

describeInTurns('A connection', (kind, it) => {
  let hosted: HostedApp;
  let test: TestApp;
  let faulty: FaultyPlatform;
  let sourceTemplate: string;
  let connectionTemplate: string;
  beforeAll(async () => {
    hosted = await startHostedApp(kind);
    ({ test, faulty } = hosted);
    sourceTemplate = await makeSourceTemplate(test);
    connectionTemplate = await makeConnectionTemplate(test);
  });
  afterAll(() => hosted.stop());

  const ask = async (method: string, path: string, body?: object) =>
    await test.request(method, `${integrations}/${path}`, { body });
  const send = async (method: string, path: string, body?: object) => {
    const answer = await ask(method, path, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const settle = async () =>
    await expect
      .poll(async () => {
        await test.app.workers.rollouts.pass();
        await hosted.letSettle();
        await test.app.workers.setUps.pass();
        const { db } = test.app.store;
        const due = await db.selectFrom('sources').select('last_error').where('due_at', 'is not', null).execute();
        const open = await db.selectFrom('rollouts').select('id').where('state', '=', 'running').execute();
        return [...due, ...open];
      }, patience)
      .toEqual([]);
  const connected = async (name: string) => {
    const who = await customer(test, name);
    await who.connect(sourceTemplate);
    await settle();
    const [connection] = (await who.request('GET', '/connections')).body.data;
    return { who, id: connection.id as string, at: `connections/${connection.id}` };
  };
  const there = async (who: Customer) => (await onPlatform(hosted.host, who.workspaceId)).connections;
  const setWorkspace = async (who: Customer, status: string) => {
    const answer = await test.request('PUT', `/api/v1/workspaces/${who.workspaceId}`, { body: { status } });
    expect(answer.status, answer.text).toBe(200);
  };
  const streamsOf = (connection: { configurations: { streams: { name: string; syncMode: string }[] } }) =>
    connection.configurations.streams.map(({ name, syncMode }) => `${name} ${syncMode}`);

  it('takes a schedule, streams and sync modes of its own, keeps them in a rollout, and follows its templates again', async () => {
    const { who, at } = await connected('chooses');
    const all = await send('GET', `${at}/streams`);
    expect(all).toMatchObject({ total: 3, read_at: expect.any(String) });
    expect(all.data[0]).toMatchObject({ name: 'users', selected: true, sync_modes: expect.any(Array) });

    const changed = await send('PATCH', at, {
      cron_expression: '0 15 3 * * ?',
      streams: [{ name: 'purchases', sync_mode: 'full_refresh_append' }, { name: 'users' }],
    });
    expect(changed).toMatchObject({ own_choice: ['cron_expression', 'streams'], applied: false });
    await settle();
    expect(await send('GET', at)).toMatchObject({ applied: true, cron_expression: '0 15 3 * * ?', status: 'active' });
    const [own] = await there(who);
    expect(own.schedule.cronExpression).toMatch(/^0 15 3 \* \* \?/);
    expect(streamsOf(own)).toEqual([expect.stringMatching(/^users /), 'purchases full_refresh_append']);
    const listed = await send('GET', `${at}/streams`);
    expect(listed.data.filter(({ selected }: { selected: boolean }) => selected)).toMatchObject([
      { name: 'users' },
      { name: 'purchases', sync_mode: 'full_refresh_append' },
    ]);

    // The same once more is no change.
    const quietly = faulty.sent.length;
    await send('PATCH', at, { cron_expression: '0 15 3 * * ?' });
    await settle();
    expect(faulty.sent.slice(quietly).filter(({ method }) => method !== 'GET')).toEqual([]);

    await send('PATCH', `templates/connections/${connectionTemplate}`, {
      cron_expression: '0 0 5 * * ?',
      destination_name: 'Lake',
      apply: 'all',
    });
    await send('PATCH', `templates/sources/${sourceTemplate}`, {
      customization: { stream_selection_mode: 'whitelist', stream_whitelist: ['products'] },
      apply: 'all',
    });
    await settle();
    const [kept] = await there(who);
    expect(kept.name).toContain('→ Lake (');
    expect(kept.schedule.cronExpression).toMatch(/^0 15 3/);
    expect(streamsOf(kept)).toEqual(streamsOf(own));

    const followed = await send('PATCH', at, { follow_template: ['cron_expression', 'streams'] });
    expect(followed).toMatchObject({ own_choice: [], cron_expression: '0 0 5 * * ?' });
    await settle();
    const [back] = await there(who);
    expect(back.schedule.cronExpression).toMatch(/^0 0 5/);
    expect(streamsOf(back)).toEqual([expect.stringMatching(/^products /)]);
    expect(back.connectionId).toBe(own.connectionId);
    await send('PATCH', `templates/sources/${sourceTemplate}`, { customization: { stream_selection_mode: 'all' } });
    await send('PATCH', `templates/connections/${connectionTemplate}`, { destination_name: 'Files' });
  });

  it('refuses streams and sync modes that there are not, at the field', async () => {
    const { at } = await connected('refused');
    const { status, body } = await ask('PATCH', at, {
      streams: [
        { name: 'nothing' },
        { name: 'users', sync_mode: 'full_refresh_update' },
        { name: 'products' },
        { name: 'products' },
      ],
    });
    expect(status).toBe(422);
    expect(body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'))).toEqual([
      'body.streams.0.name',
      'body.streams.1.sync_mode',
      'body.streams.3.name',
    ]);
    expect(await ask('PATCH', at, { cron_expression: null, follow_template: ['cron_expression'] })).toMatchObject({
      status: 422,
    });
    expect(await send('GET', at)).toMatchObject({ own_choice: [], applied: true });
  });

  it('stays paused when its workspace is deactivated and activated, and is enabled only with an active workspace', async () => {
    const { who, at } = await connected('paused');
    const onPlatformNow = async () => (await there(who))[0].status;
    expect(await send('PATCH', at, { status: 'inactive' })).toMatchObject({
      status: 'inactive',
      next_run_at: null,
      health: { state: 'paused' },
    });
    await settle();
    expect(await onPlatformNow()).toBe('inactive');
    expect(await send('GET', at)).toMatchObject({ applied: true, status: 'inactive' });
    expect(await ask('POST', `${at}/sync`)).toMatchObject({
      status: 409,
      headers: { 'x-inlay-error': 'connection_paused' },
    });
    await setWorkspace(who, 'inactive');
    await setWorkspace(who, 'active');
    await settle();
    expect(await onPlatformNow()).toBe('inactive');

    await setWorkspace(who, 'inactive');
    await send('PATCH', at, { status: 'active' });
    await settle();
    expect(await onPlatformNow(), 'of an inactive workspace').toBe('inactive');
    expect(await send('GET', at)).toMatchObject({ status: 'inactive', health: { state: 'paused' } });
    await setWorkspace(who, 'active');
    expect(await onPlatformNow(), 'together with its workspace').toBe('active');
    expect(await send('GET', at)).toMatchObject({ status: 'active', health: { state: 'never_synced' } });

    // Someone else has stopped it on the platform.
    const [{ connectionId }] = await there(who);
    await hosted.host.platform('PATCH', `/connections/${connectionId}`, { status: 'inactive' });
    await send('PATCH', at, { status: 'active' });
    await settle();
    expect(await onPlatformNow()).toBe('active');
  });

  it('is paused in the end, when it is paused while its workspace is being activated', async () => {
    const { who, at } = await connected('meets');
    await setWorkspace(who, 'inactive');
    const restore = faulty.rule(
      first(1, to('PATCH', '/connections/'), () => async (_, forward) => {
        // The activation is on its way to the platform, and arrives after the pause was recorded and set up.
        await send('PATCH', at, { status: 'inactive' });
        await test.app.workers.setUps.pass();
        return await forward();
      }),
    );
    await setWorkspace(who, 'active');
    restore();
    await settle();
    expect((await there(who))[0].status).toBe('inactive');
    expect(await send('GET', at)).toMatchObject({ status: 'inactive', applied: true });
  });

  it('has the last of several changes, whatever is lost on the way', async () => {
    const { who, at } = await connected('lost');
    const late = lateApply(to('PATCH', '/connections/'));
    const restore = faulty.rule(late.rule);
    await send('PATCH', at, { cron_expression: '0 0 1 * * ?', status: 'inactive' });
    await test.app.workers.setUps.pass();
    restore();
    await send('PATCH', at, { cron_expression: '0 0 2 * * ?', status: 'active' });
    await test.app.workers.setUps.pass();
    await late.apply();
    expect(await send('GET', at)).toMatchObject({ applied: false });
    await settle();
    const [connection, ...others] = await there(who);
    expect(others).toEqual([]);
    expect(connection).toMatchObject({ status: 'active' });
    expect(connection.schedule.cronExpression).toMatch(/^0 0 2/);
    expect(await send('GET', at)).toMatchObject({ applied: true });
  });

  it('is read from the start from its source, which the platform must not answer from memory', async () => {
    const { who, at } = await connected('refreshed');
    const before = faulty.sent.length;
    const { read_at } = await send('GET', `${at}/streams`);
    expect(await send('POST', `${at}/refresh`)).toMatchObject({ applied: false });
    await settle();
    expect(await send('GET', at)).toMatchObject({ applied: true, own_choice: [] });
    const sent = faulty.sent.slice(before);
    const [asked] = sent.filter(({ path }) => path.startsWith('/streams?'));
    expect(asked?.path).toContain('ignoreCache=true');
    const told = sent.filter(to('PATCH', '/connections/')).map(({ body }) => JSON.parse(String(body)));
    expect(told).toMatchObject([{ configurations: { streams: [{}, {}, {}] } }]);
    expect(await there(who)).toHaveLength(1);
    expect((await send('GET', `${at}/streams`)).read_at > read_at).toBe(true);
  });

  it('is deleted on the platform and in lists while its source lives, once, and its jobs stay readable', async () => {
    const { who, id, at } = await connected('deleted');
    const job = await send('POST', `${at}/sync`);
    // A refusal by id alone proves nothing: the platform still lists it.
    const restore = faulty.rule(answering(to('DELETE', '/connections/'), 403, '{}'));
    expect(await ask('DELETE', at)).toMatchObject({
      status: 502,
      headers: { 'x-inlay-error': 'connection_deletion_recorded' },
    });
    expect(await ask('GET', at)).toMatchObject({ status: 404 });
    expect(await ask('DELETE', at)).toMatchObject({ status: 404 });
    expect((await who.request('GET', '/connections')).body.data).toEqual([]);
    expect(await there(who)).toHaveLength(1);
    // An activation of the workspace must not bring it back.
    await setWorkspace(who, 'inactive');
    await setWorkspace(who, 'active');
    restore();
    faulty.rule(first(1, to('DELETE', '/connections/'), lostAnswer));
    await settle();
    expect(await there(who)).toEqual([]);
    const [source] = (await who.request('GET', '/sources')).body.data;
    expect(source).toMatchObject({ status: 'ready', health: { state: 'never_synced' } });
    expect((await onPlatform(hosted.host, who.workspaceId)).sources).toHaveLength(1);
    expect(await send('GET', `jobs/${job.id}`)).toMatchObject({ connection_id: id, status: 'cancelled' });
    expect((await send('GET', `jobs?connection_id=${id}`)).data).toHaveLength(1);

    // Saving the source again does not bring it back.
    await who.request('PUT', `/sources/${source.id}`, { name: 'Renamed' });
    await settle();
    expect(await there(who)).toEqual([]);
  });

  it('is deleted before the platform has created it or reported that it has', async () => {
    const who = await customer(test, 'early');
    const late = lateApply((request) => request.method === 'POST' && request.path === '/connections');
    const restore = faulty.rule(late.rule);
    const from = faulty.sent.length;
    await who.connect(sourceTemplate);
    const connection = async () => (await who.request('GET', '/connections')).body.data[0];
    const hasSent = () =>
      faulty.sent.slice(from).some(({ method, path }) => method === 'POST' && path === '/connections');
    await expect.poll(hasSent, patience).toBe(true);
    const { id } = await connection();
    const deleted = ask('DELETE', `connections/${id}`);
    await late.apply();
    restore();
    expect([200, 503]).toContain((await deleted).status);
    await settle();
    expect(await there(who)).toEqual([]);
    expect(await connection()).toBeUndefined();
  });
});

describe('A connection on the bundled platform', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp('sqlite');
  });
  afterAll(() => test.stop());

  it('is changed, paused, refreshed and deleted', async () => {
    const sourceTemplate = await makeSourceTemplate(test);
    await makeConnectionTemplate(test);
    const who = await customer(test, 'acme');
    const source = await who.connect(sourceTemplate);
    await who.settled(source);
    const [{ id }] = (await who.request('GET', '/connections')).body.data;
    const send = async (method: string, rest = '', body?: object) => {
      const answer = await test.request(method, `${integrations}/connections/${id}${rest}`, { body });
      expect(answer.status, answer.text).toBe(200);
      await who.settled(source);
      return answer.body;
    };
    const there = async () => (await onPlatform(test, who.workspaceId)).connections;
    await send('PATCH', '', { status: 'inactive', cron_expression: null, streams: [{ name: 'users' }] });
    expect(await there()).toMatchObject([
      { status: 'inactive', schedule: { scheduleType: 'manual' }, configurations: { streams: [{ name: 'users' }] } },
    ]);
    await send('PATCH', '', { status: 'active', follow_template: ['streams'] });
    await send('POST', '/refresh');
    const [refreshed] = await there();
    expect(refreshed).toMatchObject({ status: 'active', schedule: { scheduleType: 'manual' } });
    expect(refreshed.configurations.streams).toHaveLength(3);
    expect(await send('DELETE')).toEqual({ id, deleted_at: expect.any(String) });
    expect(await there()).toEqual([]);
  });
});

describe('A customer', () => {
  let test: TestApp;
  let sourceTemplate: string;
  beforeAll(async () => {
    test = await startTestApp('sqlite');
    sourceTemplate = await makeSourceTemplate(test, {
      customization: { stream_selection_mode: 'whitelist', stream_whitelist: ['users', 'products'] },
    });
    await makeConnectionTemplate(test, { tags: ['closed'] });
    await makeConnectionTemplate(test, {
      tags: ['open'],
      destination_name: 'Open',
      destination_config: { path: 'open' },
      customer_may_change: { streams: true, schedule: { shortest_minutes: 60 } },
    });
  });
  afterAll(() => test.stop());

  const connected = async (name: string, tag: string) => {
    const who = await customer(test, name);
    const source = await who.connect(sourceTemplate, { selected_connection_template_tags: [tag] });
    await who.settled(source);
    const [connection] = (await who.request('GET', '/connections')).body.data;
    const choose = (body: object) => who.request('PATCH', `/connections/${connection.id}`, body);
    return { who, source, connection, choose };
  };

  it('chooses nothing that the template does not leave to customers', async () => {
    const { connection, choose } = await connected('closed', 'closed');
    expect(connection.customer_may_change).toEqual({ streams: false, schedule: null });
    for (const body of [
      { cron_expression: null },
      { streams: [{ name: 'users' }] },
      { follow_template: ['streams'] },
    ]) {
      expect(await choose(body)).toMatchObject({
        status: 403,
        headers: { 'x-inlay-error': 'choice_not_offered' },
      });
    }
    expect((await choose({})).status).toBe(200);
    // What only operators may do is no part of the request.
    expect((await choose({ status: 'inactive' })).body).toMatchObject({ status: 'active' });
  });

  it('chooses streams of the template and a schedule within its limit, and keeps how operators have a stream synced', async () => {
    const { who, source, connection, choose } = await connected('open', 'open');
    const streams = async () => (await who.request('GET', `/connections/${connection.id}/streams`)).body.data;
    expect(await streams()).toMatchObject([{ name: 'users' }, { name: 'products' }]);
    const often = await choose({ cron_expression: '0 0/30 * * * ?' });
    expect(often).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'cron_expression'], msg: 'syncs must be at least 60 minutes apart' }] },
    });
    const foreign = await choose({ streams: [{ name: 'purchases' }] });
    expect(foreign.body.detail).toMatchObject([
      { loc: ['body', 'streams', '0', 'name'], msg: 'the source has no such stream' },
    ]);

    const byOperator = { streams: [{ name: 'users', sync_mode: 'full_refresh_append' }, { name: 'products' }] };
    await test.request('PATCH', `${integrations}/connections/${connection.id}`, { body: byOperator });
    const chosen = await choose({ cron_expression: '0 0 0/6 * * ?', streams: [{ name: 'users' }] });
    expect(chosen).toMatchObject({ status: 200, body: { own_choice: ['cron_expression', 'streams'] } });
    await who.settled(source);
    const [there] = (await onPlatform(test, who.workspaceId)).connections;
    expect(there).toMatchObject({ schedule: { cronExpression: expect.stringMatching(/^0 0 0\/6/) } });
    expect(there.configurations.streams).toMatchObject([{ name: 'users', syncMode: 'full_refresh_append' }]);
    expect(await streams()).toMatchObject([{ selected: true }, { selected: false }]);
  });
});
