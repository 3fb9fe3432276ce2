/** Tokens and keys, events, webhooks and the audit, in Chromium. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itInLongRun } from '../../scripts/long-run.ts';
import { useStage } from '../../widget/test/support/stage.ts';
import { words as tokens } from '../src/screens/tokens/words.ts';
import { words as webhooks } from '../src/screens/webhooks/words.ts';
import { expectGoodLooks, openConsole } from './support/signed-in.ts';

const stage = useStage();

/** Answers webhooks with what is set. */
let receiver: Server;
let receiverStatus = 204;
const received: string[] = [];
beforeAll(async () => {
  receiver = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']));
    request.resume();
    request.on('end', () => response.writeHead(receiverStatus).end());
  }).listen(0, '127.0.0.1');
  await new Promise((done) => receiver.once('listening', done));
});
afterAll(() => {
  receiver.close();
  receiver.closeAllConnections();
});
const receiverUrl = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;

const hostile = '<img src=x onerror=alert(1)>';

describe('Tokens and keys', () => {
  it('creates a token whose secret is shown once and works, and revokes it', async () => {
    const page = await openConsole(stage, 'tokens');
    await page.getByRole('button', { name: 'Create token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(hostile);
    await dialog.getByLabel('Role').selectOption('read');
    await dialog.getByLabel('Expires on').fill('2099-12-31');
    await expectGoodLooks(page, 'tokens-create');
    await dialog.getByRole('button', { name: 'Create token', exact: true }).click();
    const secret = await page.locator('.c-secret code').innerText();
    const asked = () =>
      fetch(`${stage.service.url}/api/v1/operator-tokens`, { headers: { authorization: `Bearer ${secret}` } });
    expect((await asked()).status).toBe(200);
    await expectGoodLooks(page, 'tokens-secret');
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await page.getByText(secret).count()).toBe(0);

    const row = page.getByRole('row').filter({ hasText: hostile });
    await expect.poll(() => row.innerText()).toContain('Viewer');
    expect(await page.locator('main img').count()).toBe(0);
    await expectGoodLooks(page, 'tokens');
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await expect.poll(() => row.innerText()).toContain('Revoked');
    expect((await asked()).status).toBe(401);
  });

  itInLongRun('rotates a token: the old one works until the overlap is over', async () => {
    await stage.operator('POST', '/operator-tokens', { name: 'nightly', permission: 'read' });
    const page = await openConsole(stage, 'tokens');
    await page.getByRole('button', { name: 'Rotate nightly' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click();
    await page.locator('.c-secret').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    const rows = page.getByRole('row').filter({ hasText: 'nightly' });
    await expect
      .poll(async () => (await rows.allInnerTexts()).map((text) => text.includes(tokens.states.ending)))
      .toEqual([true, false]);
  });

  it('shows who is signed in, and ends a session', async () => {
    const other = await openConsole(stage, 'tokens', { permission: 'operator' });
    const label = (await other.locator('.c-settings-who span').first().innerText()).trim();
    const page = await openConsole(stage, 'tokens');
    await page.getByRole('button', { name: `End session: ${label}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End session', exact: true }).click();
    // The dialog may have been over the list, which keeps its rows while the pointer is on it.
    await page.mouse.move(0, 0);
    await expect.poll(() => page.getByRole('button', { name: `End session: ${label}` }).count()).toBe(0);
    await other.reload();
    await other.getByLabel('Operator token').waitFor();
    // Chromium reports answers of 401 itself.
    expect(stage.takeProblems().every((problem) => problem.includes('401'))).toBe(true);
  });

  it('does not offer an operator what only an admin may do', async () => {
    const page = await openConsole(stage, 'tokens', { permission: 'operator' });
    await page.getByRole('table', { name: 'Operator tokens' }).waitFor();
    await page.getByRole('table', { name: tokens.sessions }).waitFor();
    for (const name of ['Create token', /Rotate/, /Revoke/, /End session/]) {
      expect(await page.getByRole('button', { name }).count(), String(name)).toBe(0);
    }
  });
});

describe('Workers', () => {
  const path = '/integrations/workers';
  /** A machine that has joined and runs nothing. */
  const join = async (token: string) => {
    const answer = await fetch(`${stage.service.url}/platform/v1/workers/join`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, secret: 'x'.repeat(43), hostname: 'machine' }),
    });
    expect(answer.status).toBe(200);
  };

  it('enrols a worker whose token is shown once, with the commands that use it, and revokes it', async () => {
    const page = await openConsole(stage, 'workers');
    await page.getByText('No workers yet').waitFor();
    await expectGoodLooks(page, 'workers-none');
    await page.getByRole('button', { name: 'Enrol worker' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(hostile);
    await dialog.getByLabel('Labels').fill('region=eu, network=dmz');
    await expectGoodLooks(page, 'workers-enrol');
    await dialog.getByRole('button', { name: 'Enrol worker', exact: true }).click();
    const commands = await page.locator('.c-code').innerText();
    expect(commands).toContain(`INLAY_WORKER_URL=${stage.publicUrl}/platform/v1\n`);
    await expectGoodLooks(page, 'workers-token');
    const token = /INLAY_WORKER_TOKEN=(\S+)/.exec(commands)?.[1] ?? '';
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await page.getByText(token).count()).toBe(0);
    await join(token);

    const row = page.getByRole('row').filter({ hasText: hostile });
    expect(await row.innerText()).toContain('region=eu');
    await expectGoodLooks(page, 'workers');
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await expect.poll(() => row.innerText()).toContain('Revoked');
    expect((await stage.operator('GET', path)).data[0]).toMatchObject({ name: hostile, state: 'revoked' });
  });

  it('are shown to operators, who change nothing about them', async () => {
    const page = await openConsole(stage, 'workers', { permission: 'operator' });
    await page.getByRole('table', { name: 'Machines' }).waitFor();
    expect(await page.getByRole('button', { name: /Enrol|Revoke/ }).count()).toBe(0);
  });
});

describe('Events and webhooks', () => {
  it('adds a webhook, sends a test, shows deliveries and sends an event again', async () => {
    const page = await openConsole(stage, 'webhooks');
    await page.getByText(webhooks.none).waitFor();
    await expectGoodLooks(page, 'webhooks-none');
    await page.getByRole('button', { name: 'Add webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(webhooks.address).fill(receiverUrl());
    await dialog.getByLabel(webhooks.types).fill('no such type');
    await dialog.getByRole('button', { name: 'Add webhook', exact: true }).click();
    // The service's message, its code and the request id.
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByRole('alert').innerText()).toMatch(/types[\s\S]*Code\s+invalid_request/);
    await dialog.getByLabel(webhooks.types).fill('tag.*');
    await dialog.getByRole('button', { name: 'Add webhook', exact: true }).click();
    expect(await page.locator('.c-secret code').innerText()).toMatch(/^whsec_/);
    stage.takeProblems();
    await page.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('link', { name: receiverUrl() }).click();
    await page.getByRole('button', { name: webhooks.test, exact: true }).click();
    await page.getByText(webhooks.testDelivered('204')).waitFor();

    receiverStatus = 503;
    await stage.operator('POST', '/integrations/templates/tags', { name: 'crm' });
    const row = page.getByRole('row').filter({ hasText: 'tag.created' });
    await expect.poll(() => row.count()).toBe(1);
    await expect.poll(() => row.innerText()).toMatch(/Pending[\s\S]*503/);
    await expectGoodLooks(page, 'webhook');
    receiverStatus = 204;
    const before = received.length;
    await row.getByRole('button', { name: 'Resend tag.created', exact: true }).click();
    await expect.poll(() => row.innerText()).toContain('Delivered');
    expect(received.length).toBeGreaterThan(before);

    await row.getByRole('link', { name: 'tag.created' }).click();
    await page.getByRole('heading', { name: 'tag.created' }).waitFor();
    expect(await page.locator('.c-code').innerText()).toContain('crm');
    await expectGoodLooks(page, 'event');
  });

  itInLongRun('disables and enables a webhook, and gives it a new secret; an operator may only use it', async () => {
    const url = `${receiverUrl()}/second`;
    const { id } = await stage.operator('POST', '/webhook-endpoints', { url, types: ['source.*'] });
    const page = await openConsole(stage, `webhooks/${id}`);
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByText(webhooks.reasons.requested).waitFor();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByRole('button', { name: webhooks.recover, exact: true }).waitFor();
    await page.getByRole('button', { name: 'Rotate secret', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret', exact: true }).click();
    await page.locator('.c-secret').waitFor();
    expect((await stage.operator('GET', `/webhook-endpoints/${id}`)).keys.length).toBe(2);

    const operator = await openConsole(stage, `webhooks/${id}`, { permission: 'operator' });
    await operator.getByRole('button', { name: webhooks.test, exact: true }).waitFor();
    expect(await operator.getByRole('button', { name: /Rotate|Disable/ }).count()).toBe(0);
    const viewer = await openConsole(stage, `webhooks/${id}`, { permission: 'read' });
    await viewer.getByRole('heading', { name: 'Deliveries' }).waitFor();
    expect(await viewer.getByRole('button', { name: /Send|Delete|Resend/ }).count()).toBe(0);
  });

  it('lists events newest first, with a filter in the address', async () => {
    await stage.operator('POST', '/integrations/templates/tags', { name: hostile });
    await stage.widgetToken();
    const page = await openConsole(stage, 'events');
    const types = page.locator('tbody th');
    await expect.poll(async () => await types.allInnerTexts()).toContain('workspace.created');
    const positions = (await page.locator('tbody td:last-child').allInnerTexts()).map((text) =>
      Number(text.replace(',', '')),
    );
    expect(positions).toEqual([...positions].sort((a, b) => b - a));
    await expectGoodLooks(page, 'events');
    await page.getByLabel('Type').selectOption('tag.*');
    await expect.poll(async () => new Set(await types.allInnerTexts())).toEqual(new Set(['tag.created']));
    expect(page.url()).toContain('types=tag.*');
    await page.reload();
    await expect.poll(async () => new Set(await types.allInnerTexts())).toEqual(new Set(['tag.created']));
  });
});

describe('The audit', () => {
  it('shows who did what, with before and after, and exports it', async () => {
    const id = await stage.sourceTemplate({ name: 'Before' });
    await stage.operator('PATCH', `/integrations/templates/sources/${id}`, { name: hostile });
    const page = await openConsole(stage, 'audit?types=template.*');
    await expect.poll(() => page.locator('tbody th').first().innerText()).toBe('template.published');
    await expectGoodLooks(page, 'audit');
    await page.getByRole('link', { name: 'template.published' }).first().click();
    const row = page.getByRole('row').filter({ hasText: '/name' });
    await expect.poll(() => row.innerText()).toMatch(/Before[\s\S]*<img/);
    expect(await page.locator('main img').count()).toBe(0);
    await expectGoodLooks(page, 'audit-entry');

    await page.goBack();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export as JSONL' }).click(),
    ]);
    let text = '';
    for await (const chunk of await download.createReadStream()) text += chunk;
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(new Set(lines.map(({ type }) => type.split('.')[0]))).toEqual(new Set(['template']));
  });
});
