/** What the jobs API reports about each stream of a sync, to operators and to customers, and what the metrics count. */
import { expect, inject, it, onTestFinished } from 'vitest';
import { startHttpServer } from '../../../../guard/test/http-server.ts';
import { freePort } from '../../../../scripts/disposable.mjs';
import { startTestApp } from '../../../test/support/app.ts';
import { describeOnOneDatabase } from '../../../test/support/databases.ts';
import {
  customer,
  httpApi,
  makeConnectionTemplate,
  makeSourceTemplate,
  postgresDestination,
} from '../../../test/support/pipelines.ts';

// PostgreSQL cannot hold the character U+0000. A row with the last field set is removed.
const people = [
  { id: 1, name: 'Ada', at: 1, _ab_cdc_deleted_at: null },
  { id: 2, name: 'Gr\0ace', at: 2, _ab_cdc_deleted_at: null },
  { id: 3, name: '\0', at: 3, _ab_cdc_deleted_at: null },
];
const farewell = [
  { id: 1, name: 'Ada', at: 4, _ab_cdc_deleted_at: '2026-01-31T09:30:42Z' },
  { id: 4, name: 'Joan', at: 4, _ab_cdc_deleted_at: null },
];

describeOnOneDatabase('The streams of a job', (kind) => {
  it('show operators and customers how many records came, were written and removed, and which values changed', async () => {
    const test = await startTestApp(kind, { env: { PORT: String(await freePort()) } });
    onTestFinished(() => test.stop());
    await test.app.listen();
    let answer: object[] = people;
    const api = await startHttpServer(() => answer);
    const template = await makeSourceTemplate(test, {
      actor_definition_id: httpApi,
      partial_default_config: {
        base_url: api.origin,
        authentication: { type: 'none' },
        streams: [{ name: 'people', path: '/people', primary_key: ['id'], cursor_field: 'at' }],
      },
    });
    const { hostname, port, pathname, username, password } = new URL(inject('postgresUrl'));
    await makeConnectionTemplate(test, {
      sync_on_create: true,
      destination_definition_id: postgresDestination,
      destination_config: {
        host: hostname,
        port: Number(port),
        database: pathname.slice(1) || 'postgres',
        username: decodeURIComponent(username),
        password: decodeURIComponent(password) || 'none',
        ssl_mode: { mode: 'disable' },
      },
    });
    const acme = await customer(test, 'acme');
    await acme.settled(await acme.connect(template, { source_config: {} }));
    const [{ id }] = (await acme.request('GET', '/connections')).body.data;
    const jobs = async () => (await acme.request('GET', `/connections/${id}/jobs`)).body.data;
    const newest = async () => (await jobs())[0];
    const isOver = /succeeded|failed|cancelled/;
    await expect.poll(async () => (await newest())?.status).toMatch(isOver);
    expect(await newest()).toMatchObject({
      status: 'succeeded',
      rows: 3,
      error: null,
      streams: [
        {
          name: 'people',
          records_emitted: 3,
          records_written: 3,
          records_deleted: 0,
          values_changed: [{ field: 'name', kind: 'shortened', count: 2, example: 'record 2' }],
        },
      ],
    });

    const detail = await test.request('GET', `/api/v1/integrations/jobs/${(await newest()).id}`);
    expect(detail.body.row_points.at(-1)).toMatchObject({ attempt: 1, rows: 3 });

    answer = farewell;
    await acme.request('POST', `/connections/${id}/sync`);
    await expect.poll(async () => (await newest()).status).toMatch(isOver);
    const both = await jobs();
    expect(both[0].streams).toEqual([
      { name: 'people', records_emitted: 2, records_written: 1, records_deleted: 1, values_changed: [] },
    ]);
    const asOperator = `/api/v1/integrations/connections/${id}/jobs?workspace_id=${acme.workspaceId}`;
    expect((await test.request('GET', asOperator)).body.data).toEqual(both);
    expect((await acme.request('GET', '/connections')).body.data[0].last_run).toEqual(both[0]);
    const started = await test.request('POST', `/api/v1/integrations/connections/${id}/sync?from_start=people`);
    expect(started.status).toBe(200);
    await expect.poll(async () => (await newest()).status).toMatch(isOver);
    expect((await newest()).streams).toMatchObject([
      { records_emitted: 2, records_written: 1, notices: [{ code: 'refreshed', message: expect.any(String) }] },
    ]);
    const unknown = await test.request('POST', `/api/v1/integrations/connections/${id}/sync?from_start=nobody`);
    expect([unknown.status, unknown.headers['x-inlay-error']]).toEqual([409, 'stream_not_refreshed']);
    const { text } = await test.request('GET', '/metrics', { token: null });
    expect(text).toContain('inlay_values_changed_total{kind="shortened"} 2');
  });
});
