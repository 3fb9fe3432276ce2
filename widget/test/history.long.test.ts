/**
 * Into PostgreSQL, in Chromium: what a customer reads about values that could not be kept unchanged, and the whole way of a
 * connector that is a manifest.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { httpApi, postgresDestination } from '../../server/test/support/pipelines.ts';
import words from '../src/words/en.ts';
import { frameOf, takePicture, useStage, widgetFrame } from './support/stage.ts';

const stage = useStage();
let api: Server;
/** The requests to /v1/invoices, and the invoices it serves. */
const asked: string[] = [];
const invoices = [
  { id: 'a', state: 'paid', updated_at: '2024-06-10T08:00:00Z' },
  { id: 'b', state: 'open', updated_at: '2024-06-11T08:00:00Z' },
  { id: 'c', state: 'paid', updated_at: '2024-06-12T08:00:00Z' },
];

beforeAll(async () => {
  // PostgreSQL cannot hold the character U+0000.
  const people = [
    { id: 1, name: 'Ada' },
    { id: 2, name: 'Gr\0ace' },
    { id: 3, name: '\0' },
  ];
  api = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://api');
    const isInvoices = pathname === '/v1/invoices';
    if (isInvoices && request.headers['x-api-key'] !== 'right') return void response.writeHead(401).end('{}');
    const since = searchParams.get('updated_since') ?? '';
    if (isInvoices) asked.push(since);
    // Two a page.
    const found = invoices.filter(({ updated_at }) => updated_at >= since);
    const from = Number(searchParams.get('page_token') ?? 0);
    const next = from + 2 < found.length ? String(from + 2) : null;
    const answer = isInvoices ? { data: found.slice(from, from + 2), next } : people;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await new Promise((done) => api.once('listening', done));
  const { hostname, port, pathname, username, password } = new URL(inject('postgresUrl'));
  await stage.connectionTemplate({
    destination_definition_id: postgresDestination,
    namespace_format: 'workspace_{workspace_id}',
    destination_config: {
      host: hostname,
      port: Number(port),
      database: pathname.slice(1) || 'postgres',
      username: decodeURIComponent(username),
      password: decodeURIComponent(password),
      ssl_mode: { mode: 'disable' },
    },
  });
  await stage.sourceTemplate({
    actor_definition_id: httpApi,
    name: 'Ledger',
    tags: ['ledger'],
    partial_default_config: {
      base_url: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
      authentication: { type: 'none' },
      streams: [{ name: 'people', path: '/people', primary_key: ['id'] }],
    },
  });
});
afterAll(() => {
  api.close();
  api.closeAllConnections();
});

it('says which field has lost how many values, and why', async () => {
  const page = await stage.newPage();
  const { widgetUrl } = await stage.widgetToken({
    workspace_name: 'history',
    selected_source_template_tags: ['ledger'],
  });
  await page.goto(stage.origin + stage.hostPage(frameOf(widgetUrl)));
  const frame = await widgetFrame(page);
  await frame.getByLabel('Name').fill('Our ledger');
  await frame.getByRole('button', { name: 'Test and connect' }).click();
  await frame.getByText(/3 rows synced/).waitFor({ timeout: 300_000 });
  await frame.getByRole('button', { name: 'Done' }).click();
  await frame.getByRole('button', { name: /Our ledger/ }).click();
  const summary = frame.getByText(words.source.changes.title(2, '2')).first();
  await summary.waitFor();
  await summary.click();
  await frame.getByText(words.source.changes.shortened(2, '2', 'name')).waitFor();
  await takePicture(page, 'values-changed');
  expect(await frame.locator('body').textContent()).toContain('people');
});

it('goes from a manifest to rows, and from there to what is new', async () => {
  // The worked example of the reference page, verbatim.
  const page = await readFile(new URL('../../docs/reference/declarative.md', import.meta.url), 'utf8');
  const manifest = /```yaml\n(version:[\s\S]*?)```/.exec(page)?.[1] ?? '';
  const definition = await stage.operator('POST', '/integrations/definitions/sources', { manifest, name: 'Invoices' });
  await stage.sourceTemplate({
    actor_definition_id: definition.id,
    name: 'Invoices',
    tags: ['invoices'],
    partial_default_config: { base_url: `http://127.0.0.1:${(api.address() as AddressInfo).port}` },
  });
  const { widgetUrl } = await stage.widgetToken({
    workspace_name: 'invoices',
    selected_source_template_tags: ['invoices'],
  });
  const browser = await stage.newPage();
  await browser.goto(stage.origin + stage.hostPage(frameOf(widgetUrl)));
  const frame = await widgetFrame(browser);
  await frame.getByLabel('Name').fill('Our invoices');
  await frame.getByLabel('Invoices from').fill('2024-06-01');
  await frame.getByLabel('API key', { exact: true }).fill('wrong');
  await frame.getByRole('button', { name: 'Test and connect' }).click();
  await frame.getByRole('alert').first().waitFor({ timeout: 300_000 });
  await takePicture(browser, 'manifest-refused');
  await frame.getByLabel('API key', { exact: true }).fill('right');
  await frame.getByRole('button', { name: 'Test and connect' }).click();
  await frame.getByText(/3 rows synced/).waitFor({ timeout: 300_000 });
  expect(await rowsOf('our_invoices_invoices')).toEqual(['a true', 'b false', 'c true']);

  invoices.push({ id: 'd', state: 'open', updated_at: '2024-06-13T08:00:00Z' });
  asked.length = 0;
  await frame.getByRole('button', { name: 'Done' }).click();
  await frame.getByRole('button', { name: /Our invoices/ }).click();
  await frame.getByRole('button', { name: 'Sync now' }).click();
  const patience = { timeout: 300_000, interval: 200 };
  await expect.poll(() => rowsOf('our_invoices_invoices'), patience).toContain('d false');
  // The API gives what changed at that moment or later, so the last record comes once more.
  expect(new Set(asked)).toEqual(new Set(['2024-06-12T08:00:00Z']));
  await takePicture(browser, 'manifest-connected');
});

/** Rows of the only table with this name, in any workspace's schema. */
async function rowsOf(table: string): Promise<string[]> {
  const client = new pg.Client(inject('postgresUrl'));
  await client.connect();
  try {
    const { rows: tables } = await client.query(
      'select table_schema from information_schema.tables where table_name = $1',
      [table],
    );
    expect(tables).toHaveLength(1);
    const { rows } = await client.query(
      `select distinct id, is_paid from "${tables[0].table_schema}"."${table}" order by id`,
    );
    return rows.map(({ id, is_paid }) => `${id} ${is_paid}`);
  } finally {
    await client.end();
  }
}
