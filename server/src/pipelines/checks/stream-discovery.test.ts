/** An operator asks a source for its streams before any customer has it. */
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { addTenant } from '../../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import { startHostedApp } from '../../../test/support/hosted-app.ts';
import { makeSourceTemplate, postgresSource, sampleData } from '../../../test/support/pipelines.ts';

const path = '/api/v1/integrations/sources/discover';
const mask = '**********';

describeInTurns('The streams of a source', (kind, it) => {
  let test: TestApp;
  let admin: pg.Client;
  const user = `inlay_discovered_${kind}`;
  const database = () => {
    const { hostname, port } = new URL(inject('postgresUrl'));
    const place = { host: hostname, port: Number(port), database: 'postgres', ssl_mode: { mode: 'disable' } };
    return { ...place, username: user, password: 'the-first-password', schemas: [user] };
  };

  beforeAll(async () => {
    test = await startTestApp(kind);
    admin = new pg.Client({ connectionString: inject('postgresUrl') });
    await admin.connect();
    await admin.query(`drop schema if exists ${user} cascade`);
    await admin.query(`drop role if exists ${user}`);
    await admin.query(`create role ${user} login password 'the-first-password'`);
    await admin.query(`create schema ${user} authorization ${user}`);
    await admin.query(`create table ${user}.orders (id int primary key)`);
    await admin.query(`alter table ${user}.orders owner to ${user}`);
  });
  afterAll(async () => {
    await admin.query(`drop schema ${user} cascade`);
    await admin.query(`drop role ${user}`);
    await admin.end();
    await test.stop();
  });

  const discover = (body: object, from: Pick<TestApp, 'request'> = test) => from.request('POST', path, { body });
  const faultsOf = async (body: object) => {
    const answer = await discover(body);
    expect(answer.status, answer.text).toBe(422);
    return answer.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => [loc.join('.'), type]);
  };

  it('are reported without a workspace, a source or a trace in the store', async () => {
    const entries = async () =>
      Number(
        (
          await test.app.store.db
            .selectFrom('log_entries')
            .select(({ fn }) => fn.countAll().as('n'))
            .executeTakeFirstOrThrow()
        ).n,
      );
    const before = await entries();
    const { status, body } = await discover({ source_definition_id: sampleData, source_config: { count: 1 } });
    expect([status, body]).toEqual([
      200,
      {
        status: 'succeeded',
        error_message: null,
        error_reason: null,
        streams: [{ name: 'users' }, { name: 'products' }, { name: 'purchases' }],
      },
    ]);
    expect(await entries()).toBe(before);
    expect((await test.request('GET', '/api/v1/workspaces/list')).body.data ?? []).toEqual([]);
  });

  it('are none of a source that does not work, whose reason is reported without secrets', async () => {
    const secret = 'the-word-that-nobody-reads';
    const { body } = await discover({
      source_definition_id: postgresSource,
      source_config: { ...database(), password: secret, database: secret },
    });
    expect(body).toMatchObject({ status: 'failed', error_reason: { code: 'connector_error' }, streams: [] });
    expect(body.error_message).not.toContain(secret);
  });

  it('are requested with the masked secrets of a template, but at no other address', async () => {
    const id = await makeSourceTemplate(test, {
      actor_definition_id: postgresSource,
      partial_default_config: database(),
    });
    const masked = { ...database(), password: mask };
    const { body } = await discover({ source_template_id: id, source_config: masked });
    expect(body).toMatchObject({ status: 'succeeded', streams: [{ name: 'orders', namespace: user }] });
    const elsewhere = { ...masked, host: 'elsewhere.example' };
    expect(await faultsOf({ source_template_id: id, source_config: elsewhere })).toEqual([
      ['body.source_config.password', 'value_error.secret'],
    ]);
    // The template's values are not added, so none of them goes anywhere unseen.
    expect(await faultsOf({ source_template_id: id, source_config: {} })).not.toEqual([]);
    const other = await addTenant(test, 'other');
    expect((await discover({ source_template_id: id, source_config: masked }, other)).status).toBe(404);
  });

  it('need one connector, and a configuration that it takes', async () => {
    const id = await makeSourceTemplate(test);
    const both = { source_definition_id: sampleData, source_template_id: id, source_config: { count: 1 } };
    expect(await faultsOf(both)).toEqual([['body.source_definition_id', 'value_error']]);
    expect(await faultsOf({ source_config: {} })).toEqual([['body.source_definition_id', 'value_error']]);
    const unknown = { source_definition_id: '00000000-0000-4000-8000-000000000000', source_config: {} };
    expect(await faultsOf(unknown)).toEqual([['body.source_definition_id', 'value_error.definition']]);
    expect((await faultsOf({ source_definition_id: sampleData, source_config: { count: 'many' } }))[0][0]).toBe(
      'body.source_config.count',
    );
  });

  it('are not for viewers', async () => {
    const { body } = await test.request('POST', '/api/v1/operator-tokens', {
      body: { name: 'viewer', permission: 'read' },
    });
    const answer = await test.request('POST', path, {
      token: body.token,
      body: { source_definition_id: sampleData, source_config: { count: 1 } },
    });
    expect(answer.status).toBe(403);
  });
});

it('On a hosted platform a source cannot be asked for its streams before it is made', async () => {
  const hosted = await startHostedApp('sqlite');
  onTestFinished(() => hosted.stop());
  const body = { source_definition_id: sampleData, source_config: { count: 1 } };
  const refused = await hosted.test.request('POST', path, { body });
  expect([refused.status, refused.headers['x-inlay-error']]).toEqual([501, 'stream_discovery_unsupported']);
});
