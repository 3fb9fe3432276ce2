/** From nothing to the first rows in the browser, and how the service itself does, in Chromium. */
import { describe, expect, it } from 'vitest';
import { useStage } from '../../widget/test/support/stage.ts';
import { words as steps } from '../src/screens/first-steps/words.ts';
import { words as health } from '../src/screens/health/words.ts';
import { words as templates } from '../src/screens/templates/words.ts';
import { words } from '../src/words/words.ts';
import { expectGoodLooks, openConsole } from './support/signed-in.ts';

const stage = useStage({ INLAY_CONSOLE_CUSTOMER_URL: 'https://admin.example.com/customers/{name}?id={id}' });

describe('First steps', () => {
  it('lead from nothing to the first rows of a customer, and then go away', async () => {
    const page = await openConsole(stage, '', { permission: 'operator' });
    const present = page.locator('.c-steps [aria-current=step] .c-step-title');
    await expect.poll(() => present.innerText()).toBe(steps.steps.destination.title);
    await expectGoodLooks(page, 'first-steps');
    await page.getByRole('link', { name: steps.chooseDestination }).click();
    await page.getByRole('link', { name: 'Local Files' }).waitFor();
    await page.goBack();
    // How templates are made is tested with their screen; here the list notices automatically.
    await stage.connectionTemplate();
    await expect.poll(() => present.innerText()).toBe(steps.steps.source.title);
    expect(await page.getByRole('link', { name: steps.chooseSource }).getAttribute('href')).toMatch(/connectors$/);
    const id = await stage.sourceTemplate();
    await expect.poll(() => present.innerText()).toBe(steps.steps.customer.title);
    // Who has just created the second template is led here as well.
    const created = await openConsole(stage, `templates/${id}?created=true`, { permission: 'operator' });
    await created.getByRole('link', { name: templates.next.customer.action }).click();
    await created.getByRole('button', { name: 'Add customer' }).waitFor();

    await page.getByRole('button', { name: 'Add customer' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('acme-inc');
    await dialog.getByRole('button', { name: 'Add customer', exact: true }).click();
    const open = dialog.getByRole('link', { name: steps.openAs('acme-inc') });
    await expectGoodLooks(page, 'first-steps-widget-link');
    expect(await open.getAttribute('rel')).toBe('noopener noreferrer');
    const [widget] = await Promise.all([page.context().waitForEvent('page'), open.click()]);
    await widget.getByRole('button', { name: 'Test and connect' }).click();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => page.locator('.c-steps').count(), { timeout: 120_000 }).toBe(0);
    await expect.poll(() => page.locator('.c-plot, main').first().innerText()).toMatch(/[1-9][\d,]* rows/);
  });

  it('open the real widget from the page of a customer, for those who may write', async () => {
    const [{ id }] = (await stage.operator('GET', '/integrations/workspaces?limit=1')).data;
    const page = await openConsole(stage, `customers/${id}`, { permission: 'operator' });
    await page.getByRole('button', { name: words.customer.openWidget }).click();
    await page.getByRole('dialog').getByRole('button', { name: steps.makeLink, exact: true }).click();
    const link = page.getByRole('dialog').getByRole('link', { name: steps.openAs('acme-inc') });
    expect(await link.getAttribute('href')).toContain(`${stage.publicUrl}/widget?workspaceId=${id}`);
    const viewer = await openConsole(stage, `customers/${id}`, { permission: 'read' });
    await viewer.getByRole('heading', { name: 'Timeline' }).waitFor();
    expect(await viewer.getByRole('button', { name: words.customer.openWidget }).count()).toBe(0);
  });
});

describe('A customer', () => {
  it('has one timeline of jobs and audit, page by page, and a link to the own system of the operator', async () => {
    const [{ id, name }] = (await stage.operator('GET', '/integrations/workspaces?limit=1')).data;
    const looks = 60;
    for (let count = 0; count < looks; count += 1) await stage.operator('POST', `/workspaces/${id}/view-token`, {});
    const trail = `/audit-events?workspace_id=${id}&sort=-position&limit=1`;
    const last = async () => (await stage.operator('GET', trail)).data[0]?.type;
    await expect.poll(last).toBe('view_token.created');
    const page = await openConsole(stage, `customers/${id}`);
    const entries = page.locator('.c-timeline > li');
    await expect.poll(() => entries.count()).toBeGreaterThan(0);
    const before = await entries.allInnerTexts();
    const more = page.getByRole('button', { name: 'Show more' });
    const first = page.locator('.c-timeline > li', { hasText: 'source.created' });
    const showMore = async () => {
      // Without waiting: the button goes away with the last page.
      await more.evaluateAll(([button]) => (button as HTMLElement | undefined)?.click());
      return await first.count();
    };
    await expect.poll(showMore).toBe(1);
    const viewed = page.locator('.c-timeline > li', { hasText: 'view_token.created' });
    await expect.poll(() => viewed.count()).toBeGreaterThanOrEqual(looks);
    await page.locator('.c-timeline > li', { hasText: 'Sync of' }).first().waitFor();
    expect(await entries.count()).toBeGreaterThan(before.length);
    const own = page.getByRole('link', { name: words.customer.ownPage });
    expect(await own.getAttribute('href')).toBe(`https://admin.example.com/customers/${name}?id=${id}`);
    expect(await own.getAttribute('rel')).toBe('noreferrer');
    await expectGoodLooks(page, 'customer-timeline');
    await page.getByRole('link', { name: 'Customers' }).first().click();
    await page.getByRole('link', { name: `${words.customer.ownPage}: ${name}` }).waitFor();
    await expectGoodLooks(page, 'customers-own-page');
  });
});

describe('Settings and health', () => {
  it('shows checks with what to do, replicas, versions and settings, and never a secret', async () => {
    const page = await openConsole(stage, '');
    // Its place is there before it is reported.
    const strip = page.locator('.c-strip');
    await expect.poll(() => strip.innerText()).toMatch(/^Platform OK[\s\S]*Database OK \(\d+ ms\)/);
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { name: health.title }).waitFor();
    await expect.poll(() => page.getByRole('table', { name: 'Replicas' }).innerText()).toContain(health.present);
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    expect(await row('INLAY_OPERATOR_TOKEN').innerText()).toMatch(/Set\s+Environment/);
    expect(await row('INLAY_EVENT_DAYS').innerText()).toMatch(/90\s+Default/);
    expect(await page.locator('main').innerText()).not.toContain('only-for-these-tests');
    await page.getByText(/checks passed$/).waitFor();
    expect(await page.locator('.c-fact-list').innerText()).toMatch(new RegExp(`${health.lastBackup}\\s+\\S`));
    await expectGoodLooks(page, 'health');
    // On a phone the present entry of the navigation is in sight.
    await page.setViewportSize({ width: 320, height: 900 });
    await page.reload();
    const entry = page.locator('.c-nav-link[aria-current=page]');
    await expect.poll(() => entry.evaluate((link) => link.getBoundingClientRect().right)).toBeLessThanOrEqual(320);
  });
});
