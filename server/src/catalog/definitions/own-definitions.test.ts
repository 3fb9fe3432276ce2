/** Manifests that an organization adds by the API, from the request to rows in a database. */
import pg from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import { startHttpServer } from '../../../../guard/test/http-server.ts';
import { booksManifest, codedStream } from '../../../../manifests/test/books-manifest.ts';
import { freePort } from '../../../../scripts/disposable.mjs';
import { addTenant } from '../../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeInTurns, describeOnOneDatabase } from '../../../test/support/databases.ts';
import { first, lostAnswer } from '../../../test/support/faults.ts';
import { startHostedApp } from '../../../test/support/hosted-app.ts';
import {
  customer,
  makeConnectionTemplate,
  makeSourceTemplate,
  postgresDestination,
} from '../../../test/support/pipelines.ts';

const path = '/api/v1/integrations/definitions/sources';
const url = 'http://127.0.0.1:9';
const unknownId = '00000000-0000-4000-8000-000000000000';

async function add(test: TestApp, body: object): Promise<string> {
  const answer = await test.request('POST', path, { body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

const entriesOf = async (test: TestApp) => {
  const entries = await test.app.store.db
    .selectFrom('log_pending')
    .select(['type', 'data'])
    .where('type', 'like', 'definition.%')
    .orderBy('number')
    .execute();
  return entries.map(({ type, data }) => [type, JSON.parse(data)]);
};

describeInTurns('A manifest that an organization adds', (kind, it) => {
  const start = async (options: Parameters<typeof startTestApp>[1] = {}) => {
    const test = await startTestApp(kind, options);
    onTestFinished(() => test.stop());
    return test;
  };

  it('is shown with what cannot run, is offered by templates, gets new versions, and stays while a template uses it', async () => {
    const test = await start();
    const manifest = booksManifest({ url, more: codedStream('loans') })
      .replace('version: 6.44.0', 'version: 99.1.0\nfuture: 1')
      .replace('path: books', 'path: books\n        request_headers: { X-Api-Key: a-literal-key }');
    const added = await test.request('POST', path, { body: { manifest, icon: 'https://app.example.com/b.png' } });
    expect(added.status).toBe(201);
    const { id } = added.body;
    const problems = [
      {
        path: 'streams[1].retriever.requester.authenticator',
        message: 'CustomAuthenticator "source_books.components.Auth" requires code',
      },
    ];
    expect(added.body).toMatchObject({
      definition: { sourceDefinitionId: id, name: 'Books', custom: true, dockerImageTag: '1' },
      manifest: {
        version: 1,
        language_version: '99.1.0',
        streams: [
          { name: 'books', is_left_out: false, problems: [] },
          { name: 'loans', is_left_out: true, problems },
        ],
        warnings: [
          { path: 'future', message: expect.stringMatching(/^DeclarativeSource .* future$/) },
          { path: 'version', message: expect.stringContaining('99.1.0') },
        ],
      },
    });
    expect(added.body.manifest.content).toBeUndefined();
    const shown = await test.request('GET', `${path}/${id}`);
    expect(shown.body.manifest.content.streams[0].retriever.requester).toMatchObject({
      request_headers: { 'X-Api-Key': '**********' },
    });
    expect(shown.text).not.toContain('a-literal-key');
    const { sealed_manifest: sealed } = await test.app.store.db
      .selectFrom('source_definition_versions')
      .selectAll()
      .executeTakeFirstOrThrow();
    expect(sealed).not.toContain('literal');
    const listed = (await test.request('GET', `${path}?name=boo`)).body;
    expect(listed.data).toEqual([
      expect.objectContaining({ id, name: 'Books', custom: true, icon: 'https://app.example.com/b.png' }),
    ]);

    const templateId = await makeSourceTemplate(test, {
      actor_definition_id: id,
      name: 'For schools',
      partial_default_config: {},
    });
    const acme = await customer(test, 'acme');
    const kept = await acme.connect(templateId, { name: 'kept', source_config: { token: 't' } });
    const moving = await acme.connect(templateId, { name: 'moving', source_config: { token: 't', region: 'eu' } });
    await acme.settled(kept);
    await acme.settled(moving);

    // The new specification asks for something that one of the two sources does not have.
    const second = booksManifest({
      url,
      required: ['token', 'region'],
      properties: '      region: { type: string }\n',
    });
    const replaced = await test.request('PUT', `${path}/${id}`, {
      payload: second,
      headers: { 'content-type': 'application/yaml' },
    });
    expect(replaced.body).toMatchObject({
      definition: { name: 'Books', dockerImageTag: '2' },
      manifest: { version: 2, streams: [{ name: 'books', is_left_out: false }] },
      sources: {
        moved: 1,
        staying: [
          { id: kept, name: 'kept', workspace_id: acme.workspaceId, version: 1, reason: 'region: field required' },
        ],
      },
    });
    await test.app.workers.setUps.pass();
    const copies = async () => {
      const list = `/workspaces/${acme.workspaceId}/definitions/declarative_sources`;
      const { data } = (await test.platform('GET', list)).body;
      return data
        .map((copy: { version: number; manifest: { version: string } }) => [copy.version, copy.manifest.version])
        .sort();
    };
    expect(await copies()).toEqual([
      [1, '99.1.0'],
      [2, '6.44.0'],
    ]);
    // The source that stays is still judged by its own version.
    const renamed = { source_config: { token: 'other' } };
    expect((await acme.request('PUT', `/sources/${kept}`, renamed)).status).toBe(200);
    expect((await acme.request('PUT', `/sources/${moving}`, renamed)).status).toBe(422);
    await acme.settled(kept);
    expect((await copies()).map(([version]: [number]) => version)).toEqual([1, 2]);
    // It has to enter what the new version needs, and continues with that version once it has it.
    const asked = (await acme.request('GET', `/sources/${kept}`)).body.user_config_spec;
    expect(asked.connectionSpecification).toMatchObject({
      required: ['token', 'region'],
      properties: { region: { type: 'string' } },
    });
    const given = await acme.request('PUT', `/sources/${kept}`, { source_config: { token: 'other', region: 'us' } });
    expect([given.status, given.body.source_config]).toEqual([200, { token: '**********', region: 'us' }]);
    await acme.settled(kept);
    expect((await copies()).map(([version]: [number]) => version)).toEqual([2, 2]);
    expect((await acme.request('PUT', `/sources/${kept}`, renamed)).status).toBe(422);

    const busy = await test.request('DELETE', `${path}/${id}`);
    expect([busy.status, busy.headers['x-inlay-error'], busy.body.detail]).toEqual([
      409,
      'definition_in_use',
      expect.stringMatching(/: For schools$/),
    ]);
    await test.request('DELETE', `/api/v1/integrations/templates/sources/${templateId}`);
    expect(await test.request('DELETE', `${path}/${id}`)).toMatchObject({ status: 200, body: { id } });
    for (const method of ['GET', 'DELETE']) {
      expect((await test.request(method, `${path}/${id}`)).status).toBe(404);
    }
    // What was made from it continues, and goes with its source.
    expect((await acme.request('GET', `/sources/${kept}`)).body.source_config).toEqual({
      token: '**********',
      region: 'us',
    });
    await acme.request('DELETE', `/sources/${kept}`);
    await acme.request('DELETE', `/sources/${moving}`);
    expect(await copies()).toEqual([]);

    const about = { definition: { id, kind: 'source', name: 'Books' } };
    expect(await entriesOf(test)).toEqual([
      ['definition.created', about],
      ['definition.updated', { ...about, changed: ['manifest'] }],
      ['definition.deleted', about],
    ]);
  });

  it('is nobody else’s: another organization neither sees, lists, changes, uses nor guesses it', async () => {
    const test = await start();
    const { token } = await addTenant(test, 'elsewhere');
    const id = await add(test, { manifest: booksManifest({ url }), name: 'Ours' });
    const body = { manifest: booksManifest({ url }) };
    const tries = async (definitionId: string) => [
      await test.request('GET', `${path}/${definitionId}`, { token }),
      await test.request('PUT', `${path}/${definitionId}`, { token, body }),
      await test.request('DELETE', `${path}/${definitionId}`, { token }),
      await test.request('GET', `${path}/${definitionId}/versions`, { token }),
      await test.request('GET', `${path}/${definitionId}/versions/1`, { token }),
      await test.request('POST', `${path}/${definitionId}/rollback`, { token, body: { version: 1 } }),
      await test.request('POST', '/api/v1/integrations/templates/sources', {
        token,
        body: { actor_definition_id: definitionId, name: 'x' },
      }),
    ];
    const found = await tries(id);
    expect(found.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404, 422]);
    expect(found.map(({ text }) => text)).toEqual((await tries(unknownId)).map(({ text }) => text));
    expect((await test.request('GET', path, { token })).text).not.toContain(id);
    expect((await test.request('GET', `/icons/${id}/x`, { token: null })).status).toBe(404);
    const { data } = (await test.platform('GET', '/connector_definitions?type=source')).body;
    expect(JSON.stringify(data)).not.toContain('Ours');
  });
});

describeOnOneDatabase('A request to add a manifest', (kind) => {
  it('takes objects and YAML of up to 4 MiB, once per key, and refuses what cannot run with what and where', async () => {
    const test = await startTestApp(kind);
    onTestFinished(() => test.stop());
    const manifest = booksManifest({ url });
    const yaml = { 'content-type': 'text/yaml; charset=utf-8' };
    const named = await test.request('POST', `${path}?name=Named`, { payload: manifest, headers: yaml });
    expect(named).toMatchObject({ status: 201, body: { definition: { name: 'Named' } } });
    const large = `${manifest}# ${'x'.repeat(3_900_000)}\n`;
    expect((await test.request('POST', path, { payload: large, headers: yaml })).status).toBe(201);
    const tooLarge = `${manifest}# ${'x'.repeat(4_200_000)}\n`;
    expect((await test.request('POST', path, { payload: tooLarge, headers: yaml })).status).toBe(413);
    expect((await test.request('POST', '/api/v1/tags', { payload: 'name: x', headers: yaml })).status).not.toBe(201);
    const templates = '/api/v1/integrations/templates/sources';
    expect((await test.request('POST', templates, { payload: 'name: x', headers: yaml })).status).toBe(415);

    const { content } = (await test.request('GET', `${path}/${named.body.id}`)).body.manifest;
    const once = { body: { manifest: content, name: 'Once' }, headers: { 'idempotency-key': 'k' } };
    const [first, second] = [await test.request('POST', path, once), await test.request('POST', path, once)];
    expect([first.status, second.body]).toEqual([201, first.body]);
    expect((await test.request('GET', `${path}?name=once`)).body.data).toHaveLength(1);

    const coded = manifest.replace(/ {2}- type: DeclarativeStream.*(?=spec:)/s, codedStream('loans'));
    const fault = async (given: unknown) => {
      const { status, body } = await test.request('POST', path, { body: { manifest: given, name: 'x' } });
      expect(status).toBe(422);
      return [body.detail[0].loc.join('.'), body.detail[0].msg];
    };
    expect(await fault(coded)).toEqual([
      'body.manifest',
      expect.stringMatching(/streams\[0\]\.retriever\.requester\.authenticator: .*source_books\.components\.Auth/),
    ]);
    const unknown = manifest.replace('type: SimpleRetriever', 'type: QuantumRetriever');
    expect(await fault(unknown)).toEqual([
      'body.manifest',
      expect.stringMatching(/streams\[0\]\.retriever: .*QuantumRetriever/),
    ]);
    expect(await fault('a: [')).toEqual(['body.manifest', expect.stringMatching('not valid YAML')]);
    expect(await fault(manifest.replace("{{ config['token'] }}", '**********'))).toEqual([
      'body.manifest',
      expect.stringContaining('**********'),
    ]);
    expect(await fault(manifest.replace('type: object\n    title', 'type: 7\n    title'))).toEqual([
      'body.manifest',
      expect.stringContaining('spec.connection_specification'),
    ]);
    const nameless = { body: { manifest: manifest.replace('title: Books Spec', '') } };
    expect((await test.request('POST', path, nameless)).body.detail[0].loc).toEqual(['body', 'name']);
  });

  it('leads to no request to a private address where the operator allows none', async () => {
    const test = await startTestApp(kind, { env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'false' } });
    onTestFinished(() => test.stop());
    const api = await startHttpServer(() => ({ books: [] }));
    const id = await add(test, { manifest: booksManifest({ url: api.origin }) });
    const template = { actor_definition_id: id, name: 'Books', partial_default_config: {} };
    const acme = await customer(test, 'acme');
    const outcome = await acme.check(await makeSourceTemplate(test, template), { token: 't' });
    expect(outcome.status).toBe('failed');
    expect(api.asked).toEqual([]);
  });

  it('leads to rows in PostgreSQL, what is new the second time, and a new field with a new version', async () => {
    const test = await startTestApp(kind, {
      env: { PORT: String(await freePort()), INLAY_ALLOW_PRIVATE_NETWORKS: 'true' },
    });
    onTestFinished(() => test.stop());
    await test.app.listen();
    let books = [
      { id: 1, title: 'One', updated: '2024-01-01' },
      { id: 2, title: 'Two', updated: '2024-01-02' },
    ];
    const asked: string[] = [];
    const api = await startHttpServer(({ query }) => {
      asked.push(query.since ?? '');
      return { books };
    });
    const id = await add(test, { manifest: booksManifest({ url: api.origin }) });
    const templateId = await makeSourceTemplate(test, {
      actor_definition_id: id,
      name: 'Books',
      partial_default_config: {},
      customization: { stream_selection_mode: 'all' },
    });
    const { hostname, port, username, password } = new URL(inject('postgresUrl'));
    const database = `books_${Date.now()}`;
    const admin = new pg.Client({ connectionString: inject('postgresUrl') });
    await admin.connect();
    onTestFinished(() => admin.end());
    await admin.query(`create database ${database}`);
    const target = new URL(inject('postgresUrl'));
    target.pathname = `/${database}`;
    const rows = new pg.Client({ connectionString: target.href });
    await rows.connect();
    onTestFinished(async () => {
      await rows.end();
      await admin.query(`drop database ${database} with (force)`);
    });
    await makeConnectionTemplate(test, {
      sync_on_create: true,
      destination_definition_id: postgresDestination,
      non_breaking_changes_preference: 'propagate_fully',
      destination_config: {
        host: hostname,
        port: Number(port),
        database,
        username: decodeURIComponent(username),
        password: decodeURIComponent(password) || 'none',
        ssl_mode: { mode: 'disable' },
      },
    });
    const acme = await customer(test, 'acme');
    expect(await acme.check(templateId, { token: 't' })).toMatchObject({ status: 'succeeded' });
    const sourceId = await acme.connect(templateId, { source_config: { token: 't' } });
    expect(await acme.settled(sourceId)).toMatchObject({ status: 'ready' });
    const [connection] = (await acme.request('GET', '/connections')).body.data;
    const jobs = async () => (await acme.request('GET', `/connections/${connection.id}/jobs`)).body.data;
    const ended = async (count: number) => {
      const over = async () =>
        (await jobs()).filter(({ status }: { status: string }) => /succeeded|failed|cancelled/.test(status));
      await expect.poll(async () => (await over()).length).toBe(count);
      expect((await jobs())[0]).toMatchObject({ status: 'succeeded' });
    };
    const written = async () => {
      const { rows: tables } = await rows.query(
        "select table_schema, table_name from information_schema.tables where table_name like '%books'",
      );
      const [{ table_schema: schema, table_name: table }] = tables;
      return (await rows.query(`select * from "${schema}"."${table}" order by id`)).rows;
    };
    await ended(1);
    expect(await written()).toMatchObject([
      { id: '1', title: 'One', shelf: 'shelf 1' },
      { id: '2', title: 'Two', shelf: 'shelf 2' },
    ]);
    expect(asked.at(-1)).toBe('2020-01-01');

    books = [{ id: 3, title: 'Three', updated: '2024-01-03' }];
    await acme.request('POST', `/connections/${connection.id}/sync`);
    await ended(2);
    expect(asked.at(-1)).toBe('2024-01-02');
    expect((await written()).map(({ id }) => id)).toEqual(['1', '2', '3']);

    books = [{ id: 4, title: 'Four', updated: '2024-01-04' }];
    const second = booksManifest({ url: api.origin, added: 'place' });
    const replaced = await test.request('PUT', `${path}/${id}`, { body: { manifest: second } });
    expect(replaced.body.sources).toEqual({ moved: 1, staying: [] });
    await test.app.workers.setUps.pass();
    await acme.settled(sourceId);
    await acme.request('POST', `/connections/${connection.id}/sync`);
    await ended(3);
    expect(asked.at(-1)).toBe('2024-01-03');
    expect((await written()).at(-1)).toMatchObject({ id: '4', title: 'Four', place: 'shelf 4' });
  });
});

describeOnOneDatabase('On a hosted platform, a manifest that an organization adds', (kind) => {
  it('is placed once for each source through lost answers, follows new versions, is checked, and goes with its source', async () => {
    const hosted = await startHostedApp(kind);
    onTestFinished(() => hosted.stop());
    const { test, faulty, host } = hosted;
    const api = await startHttpServer(() => ({ books: [{ id: 1, updated: '2024-01-01' }] }));
    const id = await add(test, { manifest: booksManifest({ url: api.origin }) });
    const templateId = await makeSourceTemplate(test, {
      actor_definition_id: id,
      name: 'Books',
      partial_default_config: {},
    });
    const acme = await customer(test, 'acme');
    const list = `/workspaces/${acme.workspaceId}/definitions/declarative_sources`;
    const copies = async () => (await host.platform('GET', list)).body.data;
    expect(await acme.check(templateId, { token: 't' })).toMatchObject({ status: 'succeeded' });
    expect(await copies()).toEqual([]);

    const isPlacing = ({ method, path: to }: { method: string; path: string }) => method === 'POST' && to === list;
    faulty.rule(first(1, isPlacing, lostAnswer));
    const sourceId = await acme.connect(templateId, { source_config: { token: 't' } });
    for (let pass = 0; pass < 3; pass++) {
      await hosted.letSettle();
      await test.app.workers.setUps.pass();
    }
    expect(await acme.settled(sourceId)).toMatchObject({ status: 'ready' });
    expect(await copies()).toHaveLength(1);

    const second = booksManifest({ url: api.origin, added: 'place' });
    expect((await test.request('PUT', `${path}/${id}`, { body: { manifest: second } })).body.sources.moved).toBe(1);
    await test.app.workers.setUps.pass();
    expect(await acme.settled(sourceId)).toMatchObject({ status: 'ready' });
    expect(await copies()).toMatchObject([{ version: 2 }]);

    expect((await acme.request('DELETE', `/sources/${sourceId}`)).status).toBe(200);
    expect(await copies()).toEqual([]);
  });
});
