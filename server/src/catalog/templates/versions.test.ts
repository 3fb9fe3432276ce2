/** Versions of templates over the API, on both databases. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { makeConnectionTemplate, makeSourceTemplate, postgresDestination } from '../../../test/support/pipelines.ts';

const templates = '/api/v1/integrations/templates';
const warehouse = { host: 'warehouse.example', port: 5432, database: 'dw', username: 'loader', password: 'first' };

describeOnBothDatabases('Versions of templates', (kind) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp(kind);
  });
  afterAll(() => test.stop());

  const get = async (path: string) => {
    const answer = await test.request('GET', `${templates}/${path}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const patch = async (path: string, body: object) => {
    const answer = await test.request('PATCH', `${templates}/${path}`, { body });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };

  it('are made by every change, say who changed what, and show secrets as fingerprints only', async () => {
    const id = await makeConnectionTemplate(test, {
      destination_definition_id: postgresDestination,
      destination_config: warehouse,
      cron_expression: '0 0 * * * ?',
    });
    const change = (body: object) => patch(`connections/${id}`, { skip_check: true, ...body });
    await change({ destination_config: { ...warehouse, password: 'second' }, cron_expression: '0 30 2 * * ?' });
    // Nothing differs.
    await change({ cron_expression: '0 30 2 * * ?', destination_config: { ...warehouse, password: '**********' } });
    await change({ destination_config: { ...warehouse, password: 'first' } });
    await test.request('POST', `${templates}/tags`, { body: { name: 'gold' } });
    await test.request('POST', `${templates}/connections/${id}/tags`, { body: { tag: 'gold' } });
    await test.request('DELETE', `${templates}/connections/${id}/tags/gold`);

    const { data, next } = await get(`connections/${id}/versions`);
    expect(next).toBeNull();
    expect(data.map(({ version }: { version: number }) => version)).toEqual([5, 4, 3, 2, 1]);
    expect(data.map((one: { is_current: boolean }) => one.is_current)).toEqual([true, false, false, false, false]);
    for (const { created_by, created_at } of data) {
      expect(created_by).toEqual({ kind: 'operator_token', id: expect.any(String), name: 'first' });
      expect(Date.parse(created_at)).toBeGreaterThan(0);
    }
    const [untagged, tagged, back, rotated, first] = data;
    expect(first.changes).toEqual([]);
    expect(tagged.changes).toEqual([{ path: ['tags'], before: [], after: ['gold'] }]);
    expect(untagged.changes).toEqual([{ path: ['tags'], before: ['gold'], after: [] }]);
    const fingerprint = expect.stringMatching(/^fingerprint:[0-9a-f]{12}$/);
    expect(rotated.changes).toEqual([
      { path: ['cron_expression'], before: '0 0 * * * ?', after: '0 30 2 * * ?' },
      { path: ['destination_config', 'password'], before: fingerprint, after: fingerprint },
    ]);
    // The same secret has the same fingerprint.
    expect(back.changes[0].after).toBe(rotated.changes[1].before);
    expect(back.changes[0].after).not.toBe(rotated.changes[1].after);

    const shown = await get(`connections/${id}/versions/2`);
    expect(shown).toEqual({
      ...rotated,
      content: {
        destination_name: 'Files',
        cron_expression: '0 30 2 * * ?',
        non_breaking_changes_preference: 'ignore',
        sync_on_create: false,
        namespace_format: null,
        prefix: null,
        tags: [],
        destination_config: { ...warehouse, password: rotated.changes[1].after },
      },
    });
    expect(JSON.stringify([data, shown])).not.toMatch(/"(second|first)"(?!})/);
  });

  it('of source templates are listed in pages', async () => {
    const id = await makeSourceTemplate(test);
    for (const seed of [8, 9, 10]) await patch(`sources/${id}`, { partial_default_config: { seed } });
    const page = await get(`sources/${id}/versions?limit=3`);
    expect(page.data.map(({ changes }: { changes: object[] }) => changes)).toEqual([
      [{ path: ['partial_default_config', 'seed'], before: 9, after: 10 }],
      [{ path: ['partial_default_config', 'seed'], before: 8, after: 9 }],
      [{ path: ['partial_default_config', 'seed'], before: 7, after: 8 }],
    ]);
    const rest = await get(`sources/${id}/versions?limit=3&cursor=${page.next}`);
    expect(rest).toMatchObject({ data: [{ version: 1, changes: [] }], next: null });
    expect((await get(`sources/${id}/versions/1`)).content).toMatchObject({
      name: 'Sample',
      partial_default_config: { seed: 7 },
    });
    const missing = await test.request('GET', `${templates}/sources/${id}/versions/5`);
    expect([missing.status, missing.headers['x-inlay-error']]).toEqual([404, 'template_version_not_found']);
    // A number means nothing without its template and kind.
    expect((await test.request('GET', `${templates}/connections/${id}/versions/1`)).status).toBe(404);
  });
});
