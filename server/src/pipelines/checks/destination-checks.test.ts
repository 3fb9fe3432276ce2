/** Checks of destinations, and the test of a destination before its template is saved. */

import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { addTenant } from '../../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import { startHostedApp } from '../../../test/support/hosted-app.ts';
import { localFiles, makeConnectionTemplate, postgresDestination } from '../../../test/support/pipelines.ts';

const path = '/api/v1/integrations/destinations/check';
const templates = '/api/v1/integrations/templates/connections';
const mask = '**********';

describeInTurns('A destination', (kind, it) => {
  let test: TestApp;
  let admin: pg.Client;
  const user = `inlay_checked_${kind}`;
  const warehouse = () => {
    const { hostname, port } = new URL(inject('postgresUrl'));
    const place = { host: hostname, port: Number(port), database: 'postgres', ssl_mode: { mode: 'disable' } };
    return { ...place, username: user, password: 'the-first-password', schema: user };
  };
  const files = { destination_definition_id: localFiles, destination_config: { path: 'exports' } };
  const ofWarehouse = (more: object = {}) => ({
    destination_definition_id: postgresDestination,
    destination_config: { ...warehouse(), ...more },
  });

  beforeAll(async () => {
    test = await startTestApp(kind);
    admin = new pg.Client({ connectionString: inject('postgresUrl') });
    await admin.connect();
    await admin.query(`drop schema if exists ${user} cascade`);
    await admin.query(`drop role if exists ${user}`);
    await admin.query(`create role ${user} login password 'the-first-password'`);
    await admin.query(`create schema ${user} authorization ${user}`);
  });
  afterAll(async () => {
    await admin.query(`drop schema ${user}`);
    await admin.query(`drop role ${user}`);
    await admin.end();
    await test.stop();
  });

  async function check(body: object) {
    const started = await test.request('POST', path, { body });
    expect(started.status, started.text).toBe(200);
    const read = async () => (await test.request('GET', `${path}/${started.body.id}/status`)).body;
    await expect.poll(async () => (await read()).status).not.toBe('running');
    return await read();
  }
  const faultsOf = async (method: string, url: string, body: object) => {
    const { status, body: answer, text } = await test.request(method, url, { body });
    expect(status, text).toBe(422);
    return answer.detail.map(({ loc, msg, type }: { loc: string[]; msg: string; type: string }) => [
      loc.join('.'),
      type,
      msg,
    ]);
  };

  it('is checked by definition and configuration, and the outcome is requested later', async () => {
    expect(await check(files)).toEqual({
      id: expect.any(String),
      status: 'succeeded',
      error_message: null,
      error_reason: null,
    });
    expect((await check(ofWarehouse())).status).toBe('succeeded');
    const secret = 'the-word-that-nobody-reads';
    expect(await check(ofWarehouse({ password: secret, database: secret }))).toMatchObject({
      status: 'failed',
      error_message: expect.stringContaining(`database ${mask}`),
      error_reason: { code: 'connector_error', parameters: {} },
    });
  });

  it('is checked as its template has it, or with changes whose masked secrets are the template’s', async () => {
    const id = await makeConnectionTemplate(test, ofWarehouse());
    expect((await check({ connection_template_id: id })).status).toBe('succeeded');
    const masked = { ...warehouse(), password: mask };
    expect((await check({ connection_template_id: id, destination_config: masked })).status).toBe('succeeded');
    const elsewhere = { connection_template_id: id, destination_config: { ...masked, host: 'elsewhere.example' } };
    expect(await faultsOf('POST', path, elsewhere)).toEqual([
      ['body.destination_config.password', 'value_error.secret', expect.any(String)],
    ]);
  });

  it('has to be named in one way, with a configuration that its specification accepts', async () => {
    expect(await faultsOf('POST', path, {})).toEqual([
      ['body.destination_definition_id', 'value_error.missing', 'field required'],
      ['body.destination_config', 'value_error.missing', 'field required'],
    ]);
    const id = await makeConnectionTemplate(test);
    expect(await faultsOf('POST', path, { ...files, connection_template_id: id })).toHaveLength(1);
    const outside = { ...files, destination_config: { path: '../up' } };
    expect((await faultsOf('POST', path, outside))[0][0]).toBe('body.destination_config.path');
    const unknown = { ...files, destination_definition_id: '00000000-0000-4000-8000-000000000000' };
    expect((await faultsOf('POST', path, unknown))[0][0]).toBe('body.destination_definition_id');
  });

  it('has checks that only its organization reads, and that another replica can report', async () => {
    const { body } = await test.request('POST', path, { body: files });
    const other = await addTenant(test, 'other');
    expect((await other.request('GET', `${path}/${body.id}/status`)).status).toBe(404);
    // As if the process that ran it were gone.
    await expect
      .poll(async () => (await test.request('GET', `${path}/${body.id}/status`)).body.status)
      .toBe('succeeded');
    const { db } = test.app.store;
    await db
      .updateTable('destination_checks')
      .set({ status: 'running', expires_at: 0 })
      .where('id', '=', body.id)
      .execute();
    expect((await test.request('GET', `${path}/${body.id}/status`)).body).toMatchObject({
      status: 'failed',
      error_reason: { code: 'check_interrupted', parameters: {} },
    });
    await db.updateTable('destination_checks').set({ created_at: 0 }).execute();
    await test.app.keepHouse();
    expect((await test.request('GET', `${path}/${body.id}/status`)).status).toBe(404);
  });

  it('is tested before its template is saved, and what does not work is reported at the field', async () => {
    const named = { destination_name: 'Warehouse' };
    const made = await test.request('POST', templates, { body: { ...named, ...ofWarehouse() } });
    expect(made.body, made.text).toMatchObject({ checked: true, checked_at: expect.stringMatching(/Z$/) });

    const before = (await test.request('GET', templates)).body.data.length;
    const at = (config: object) => faultsOf('POST', templates, { ...named, ...ofWarehouse(config) });
    expect(await at({ database: 'nowhere' })).toEqual([
      ['body.destination_config.database', 'value_error.destination', expect.stringContaining('database nowhere')],
    ]);
    expect((await at({ username: 'nobody' }))[0][0]).toBe('body.destination_config.username');
    expect((await at({ port: 1 }))[0][0]).toBe('body.destination_config.host');
    expect((await test.request('GET', templates)).body.data).toHaveLength(before);
    const skipped = { ...named, ...ofWarehouse({ port: 1 }), skip_check: true };
    const untested = await test.request('POST', templates, { body: skipped });
    expect(untested.body).toMatchObject({ checked: false, checked_at: null });

    const one = `${templates}/${made.body.id}`;
    const patch = async (body: object) => (await test.request('PATCH', one, { body })).body;
    const elsewhere = { destination_config: { ...warehouse(), database: 'nowhere' } };
    expect((await faultsOf('PATCH', one, elsewhere))[0].slice(0, 2)).toEqual([
      'body.destination_config.database',
      'value_error.destination',
    ]);
    // Nothing of the destination changes, so that nothing is tested: its user is gone meanwhile.
    await admin.query(`alter role ${user} nologin`);
    onTestFinished(async () => void (await admin.query(`alter role ${user} login`)));
    expect(await patch({ cron_expression: null })).toMatchObject({ checked: true, checked_at: made.body.checked_at });
    const masked = { ...warehouse(), password: mask };
    expect(await faultsOf('PATCH', one, { destination_config: masked })).toHaveLength(1);
    const moved = await patch({ destination_config: { ...warehouse(), schema: 'another' }, skip_check: true });
    expect(moved).toMatchObject({ checked: false, checked_at: null });
    await admin.query(`alter role ${user} login`);
    const again = await patch({ destination_config: { ...masked, schema: user } });
    expect(again.checked).toBe(true);
    const same = await patch({ destination_config: { ...masked, schema: user } });
    expect(same.updated_at).toBe(again.updated_at);
    expect(Date.parse(same.checked_at)).toBeGreaterThan(Date.parse(again.checked_at));
  });
});

it('that never answers is refused in time, with words', async () => {
  const silent: Server = createServer(() => {});
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  onTestFinished(() => void silent.close());
  const test = await startTestApp('sqlite', { env: { INLAY_CHECK_TIMEOUT_SECONDS: '1' } });
  onTestFinished(() => test.stop());
  const { port } = silent.address() as AddressInfo;
  const destination_config = { host: '127.0.0.1', port, database: 'd', username: 'u', ssl_mode: { mode: 'disable' } };
  const body = { destination_name: 'Silent', destination_definition_id: postgresDestination, destination_config };
  const answer = await test.request('POST', templates, { body });
  expect([answer.status, answer.body.detail[0]]).toEqual([
    422,
    {
      loc: ['body', 'destination_config'],
      msg: expect.stringContaining('within 1 second'),
      type: 'value_error.destination',
    },
  ]);
});

it('on a hosted platform cannot be checked: 501, and templates are saved as not checked', async () => {
  const hosted = await startHostedApp('sqlite');
  onTestFinished(() => hosted.stop());
  const { test } = hosted;
  const body = { destination_definition_id: localFiles, destination_config: { path: 'exports' } };
  const refused = await test.request('POST', path, { body });
  expect([refused.status, refused.headers['x-inlay-error']]).toEqual([501, 'destination_checks_unsupported']);
  const made = await test.request('POST', templates, { body: { destination_name: 'Files', ...body } });
  expect([made.status, made.body.checked]).toEqual([201, false]);
});
