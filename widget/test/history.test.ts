/** What a customer reads about a sync in which some values could not be kept unchanged, in Chromium. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { httpApi, postgresDestination } from '../../server/test/support/pipelines.ts';
import { frameOf, takePicture, useStage, widgetFrame } from './support/stage.ts';

const stage = useStage();
let api: Server;

beforeAll(async () => {
  // PostgreSQL cannot hold the character U+0000.
  const people = [
    { id: 1, name: 'Ada' },
    { id: 2, name: 'Gr\0ace' },
    { id: 3, name: '\0' },
  ];
  api = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(people));
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
  const { widgetUrl } = await stage.widgetToken({ workspace_name: 'history' });
  await page.goto(stage.origin + stage.hostPage(frameOf(widgetUrl)));
  const frame = await widgetFrame(page);
  await frame.getByLabel('Name').fill('Our ledger');
  await frame.getByRole('button', { name: 'Test and connect' }).click();
  await frame.getByText(/3 rows synced/).waitFor({ timeout: 120_000 });
  await frame.getByRole('button', { name: 'Done' }).click();
  await frame.getByRole('button', { name: /Our ledger/ }).click();
  const summary = frame.getByText(/2 values did not arrive unchanged/).first();
  await summary.waitFor();
  await summary.click();
  await frame.getByText('2 values of the field name had to be shortened').waitFor();
  await takePicture(page, 'values-changed');
  expect(await frame.locator('body').textContent()).toContain('people');
});
