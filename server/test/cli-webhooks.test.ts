/** The commands about webhooks: from nothing to the first webhook, as README.md has it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { exitCodes } from '../src/edge/cli/exit-codes.ts';
import { migrate } from '../src/kernel/db/migrations.ts';
import { openSqlite } from '../src/kernel/db/open.ts';
import { systemRuntime } from '../src/kernel/runtime.ts';
import { createOrganization } from '../src/tenancy/organizations/organizations.ts';
import { runCommand } from './support/command-line.ts';
import { runCli } from './support/service.ts';
import { startReceiver, verified } from './support/webhooks.ts';

it('inlay webhooks makes an endpoint, tests it, rotates its secret, lists and deletes it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'inlay-cli-webhooks-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const store = openSqlite({ file: join(dataDir, 'inlay.db'), now: Date.now });
  await migrate(store);
  await createOrganization(store, systemRuntime, { name: 'Acme' });
  await store.close();
  const receiver = await startReceiver();
  const env = { INLAY_DATA_DIR: dataDir };
  const inlay = (...args: string[]) => runCommand(['webhooks', ...args], { env });
  const succeed = async (...args: string[]) => {
    const { code, stdout, stderr } = await inlay(...args);
    expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' });
    return stdout;
  };

  const created = await succeed('create', receiver.url, '--types', 'sync.*', '--header', 'X-Key: abc def');
  const [, id = '', secret = ''] = /^ID {6}(\S+)\nSecret {2}(whsec_\S+)\n/.exec(created) ?? [];
  expect(await succeed('test', id)).toMatch(/^Delivered: 204 in \d+ ms\.\n$/);
  const [webhook] = receiver.received;
  expect(webhook?.headers['x-key']).toBe('abc def');
  expect(webhook && verified(webhook, secret).type).toBe('webhook_endpoint.test');
  expect(await succeed('list')).toMatch(new RegExp(`${id} +enabled +${receiver.url} +sync\\.\\*`));
  expect(await succeed('rotate-secret', id)).toMatch(/^Secret {2}whsec_\S+\n\n.*secret.*\nThe old secret/);
  receiver.answer = (_, response) => response.writeHead(500).end('broken');
  // As a process: it ends although it had a connection to the receiver.
  const refused = await runCli(['webhooks', 'test', id], { env });
  expect([refused.code, refused.stdout]).toEqual([exitCodes.findings[0], expect.stringMatching(/ 500\.\nbroken\n$/)]);
  await succeed('delete', id);
  expect(await inlay('delete', id)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/not found\. .*inlay webhooks list\n$/),
  });
  expect((await inlay('create', 'ftp://x')).stderr).toMatch(/^ *url: .* https:\/\//m);
});
