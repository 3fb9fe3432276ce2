/** Versions of a manifest that an organization has added, and the way back to them, on both databases. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { booksManifest, codedStream } from '../../../../manifests/test/books-manifest.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnOneDatabase } from '../../../test/support/databases.ts';
import { customer, makeSourceTemplate } from '../../../test/support/pipelines.ts';
import { planOf, statementOf } from '../../../test/support/query-plan.ts';
import { definitionUses } from '../../pipelines/set-up/definition-copies.ts';

const path = '/api/v1/integrations/definitions/sources';
const url = 'http://127.0.0.1:9';

describeOnOneDatabase('Versions of a manifest', (kind) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp(kind);
  });
  afterAll(() => test.stop());

  const add = async (manifest: string) => (await test.request('POST', path, { body: { manifest } })).body.id as string;
  const replace = async (id: string, manifest: string) =>
    (await test.request('PUT', `${path}/${id}`, { body: { manifest } })).body;
  const versionsOf = async (id: string, query = '') =>
    (await test.request('GET', `${path}/${id}/versions${query}`)).body;
  const rollBack = (id: string, version: number) =>
    test.request('POST', `${path}/${id}/rollback`, { body: { version } });
  const numbersOf = ({ data }: { data: { version: number }[] }) => data.map(({ version }) => version);

  it('report who made them, who has them and what of them runs, and come back with the secrets that are written in them', async () => {
    const first = booksManifest({ url, more: codedStream('loans') }).replace(
      'path: books',
      'path: books\n        request_headers: { X-Api-Key: a-literal-key }',
    );
    const id = await add(first);
    const template = { actor_definition_id: id, name: 'Books', partial_default_config: {} };
    const templateId = await makeSourceTemplate(test, template);
    const acme = await customer(test, 'acme');
    const kept = await acme.connect(templateId, { name: 'kept', source_config: { token: 't' } });
    const moving = await acme.connect(templateId, { name: 'moving', source_config: { token: 't', region: 'eu' } });
    const properties = '      region: { type: string }\n';
    const second = await replace(id, booksManifest({ url, required: ['token', 'region'], properties }));
    expect(second.sources).toMatchObject({ moved: 1, staying: [{ id: kept }] });

    const author = { kind: 'operator_token', id: expect.any(String), name: 'first' };
    const made = { copy_of: null, created_by: author, created_at: expect.any(String), source_count: 1 };
    const listed = await versionsOf(id);
    expect(listed).toEqual({
      data: [
        {
          ...made,
          version: 2,
          is_current: true,
          running_stream_count: 1,
          left_out_stream_count: 0,
          change_count: 1,
          changes: [{ stream: 'loans', before: 'left_out' }],
        },
        {
          ...made,
          version: 1,
          is_current: false,
          running_stream_count: 1,
          left_out_stream_count: 1,
          change_count: 0,
          changes: [],
        },
      ],
      next: null,
    });
    const page = await versionsOf(id, '?limit=1');
    expect(page).toEqual({ data: [listed.data[0]], next: '1' });
    expect(await versionsOf(id, '?limit=1&cursor=1')).toEqual({ data: [listed.data[1]], next: null });

    const shown = await test.request('GET', `${path}/${id}/versions/1`);
    expect(shown.body).toMatchObject({
      ...listed.data[1],
      language_version: '6.44.0',
      streams: [
        { name: 'books', is_left_out: false, problems: [] },
        { name: 'loans', is_left_out: true, problems: [{ message: expect.stringContaining('requires code') }] },
      ],
      warnings: [],
    });
    const headersIn = (manifest: Record<string, never>) =>
      (manifest as unknown as { streams: { retriever: { requester: { request_headers: object } } }[] }).streams[0]
        ?.retriever.requester.request_headers;
    expect(headersIn(shown.body.content)).toEqual({ 'X-Api-Key': '**********' });
    expect(shown.text).not.toContain('a-literal-key');

    const back = await rollBack(id, 1);
    expect([back.status, back.body]).toMatchObject([
      200,
      { id, definition: { dockerImageTag: '3' }, manifest: { version: 3 }, sources: { moved: 2, staying: [] } },
    ]);
    expect(back.text).not.toContain('a-literal-key');
    await acme.settled(kept);
    await acme.settled(moving);
    const copies = `/workspaces/${acme.workspaceId}/definitions/declarative_sources`;
    const { data: onPlatform } = (await test.platform('GET', copies)).body;
    expect(onPlatform.map(({ manifest }: { manifest: Record<string, never> }) => headersIn(manifest))).toEqual([
      { 'X-Api-Key': 'a-literal-key' },
      { 'X-Api-Key': 'a-literal-key' },
    ]);
    const [third] = (await versionsOf(id)).data;
    expect(third).toMatchObject({
      version: 3,
      copy_of: 1,
      source_count: 2,
      changes: [{ stream: 'loans', after: 'left_out' }],
    });

    // What is there already makes no version, as with a manifest that is sent again.
    const again = await rollBack(id, 1);
    expect(again.body).toMatchObject({ manifest: { version: 3 }, sources: { moved: 0, staying: [] } });
    const forth = await rollBack(id, 2);
    expect(forth.body).toMatchObject({
      manifest: { version: 4 },
      sources: { moved: 1, staying: [{ id: kept, version: 3, reason: 'region: field required' }] },
    });
    const missing = await rollBack(id, 9);
    expect([missing.status, missing.headers['x-inlay-error']]).toEqual([404, 'source_definition_version_not_found']);
    expect((await test.request('GET', `${path}/${id}/versions/9`)).headers['x-inlay-error']).toBe(
      'source_definition_version_not_found',
    );
    expect(numbersOf(await versionsOf(id))).toEqual([4, 3, 2, 1]);

    const entries = await test.app.store.db
      .selectFrom('log_pending')
      .select(['data', 'patch'])
      .where('type', '=', 'definition.updated')
      .orderBy('number')
      .execute();
    const about = { definition: { id, kind: 'source', name: 'Books' }, changed: ['manifest'] };
    expect(entries.map(({ data }) => JSON.parse(data))).toEqual([about, about, about]);
    expect(entries.map(({ patch }) => /"\/copy_of","value":(\d)/.exec(patch ?? '')?.[1])).toEqual([
      undefined,
      '1',
      '2',
    ]);
  });

  it('are kept for the way back, the oldest only while a source has them', async () => {
    const id = await add(booksManifest({ url }));
    const template = { actor_definition_id: id, name: 'Books', partial_default_config: {} };
    const templateId = await makeSourceTemplate(test, template);
    const acme = await customer(test, 'reader');
    const sourceId = await acme.connect(templateId, { source_config: { token: 't' } });
    await acme.settled(sourceId);
    const needsRegion = { url, required: ['token', 'region'], properties: '      region: { type: string }\n' };
    await replace(id, booksManifest(needsRegion));
    await replace(id, booksManifest({ ...needsRegion, added: 'place' }));
    expect(numbersOf(await versionsOf(id))).toEqual([3, 2, 1]);

    // As if there had been many in between.
    const { db } = test.app.store;
    const now = { number: 22 };
    await db
      .updateTable('source_definition_versions')
      .set(now)
      .where('definition_id', '=', id)
      .where('number', '=', 3)
      .execute();
    await db.updateTable('source_definitions').set({ version: now.number }).where('id', '=', id).execute();
    await replace(id, booksManifest({ ...needsRegion, added: 'room' }));
    // No source has the second, and twenty newer ones could be kept; a source has the first.
    expect(numbersOf(await versionsOf(id))).toEqual([23, 22, 1]);
    expect((await rollBack(id, 2)).status).toBe(404);
    const back = await rollBack(id, 1);
    expect(back.body).toMatchObject({ manifest: { version: 24 }, sources: { moved: 1, staying: [] } });
    expect(numbersOf(await versionsOf(id))).toEqual([24, 23, 22]);
  });

  it('count their sources in an index', async () => {
    const { store } = test.app;
    const anyId = '00000000-0000-4000-8000-000000000000';
    const counting = await statementOf(store.db, (db) => definitionUses.countSources(db, anyId, anyId, [1, 2]));
    const index = kind === 'sqlite' ? 'COVERING INDEX sources_by_own_definition' : 'sources_by_own_definition';
    expect(await planOf(store, counting)).toContain(index);
  });
});
