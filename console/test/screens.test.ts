/** The console in Chromium: every screen in both themes and on a phone, signing in and out, keys, hostile names. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { isLongRun, itInLongRun } from '../../scripts/long-run.ts';
import { eventually } from '../../server/test/support/deployment.ts';
import { sampleData } from '../../server/test/support/pipelines.ts';
import { expectAccessible, expectToFit } from '../../widget/test/support/looks.ts';
import { useStage } from '../../widget/test/support/stage.ts';
import { words } from '../src/words/words.ts';
import { expectGoodLooks, openConsole } from './support/signed-in.ts';

const stage = useStage();
const token = 'an-operator-token-only-for-these-tests';
const pictures = fileURLToPath(new URL('../../.artifacts/console/', import.meta.url));
const hostileName = `<img src=x onerror="document.title='markup'">`;

const ids: Record<string, string> = {};
let failedJob = '';

/** A customer with one source and its connection. */
async function customer(
  name: string,
  source_template_id: string,
  source_config: object = { count: 100 },
): Promise<string> {
  const { token: scoped } = await stage.widgetToken({ workspace_name: name });
  const response = await fetch(`${stage.service.url}/api/v1/embedded/sources`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scoped}`, 'content-type': 'application/json' },
    body: JSON.stringify({ source_template_id, name: `Shop of ${name}`, source_config }),
  });
  if (!response.ok) throw new Error(await response.text());
  const { workspace_id } = (await response.json()) as { workspace_id: string };
  ids[name] = workspace_id;
  return workspace_id;
}

beforeAll(async () => {
  await stage.connectionTemplate();
  const template = await stage.sourceTemplate();
  for (const name of ['Acme Inc.', 'Globex', hostileName]) await customer(name, template);
  await eventually(
    'jobs have ended',
    async () => (await stage.operator('GET', '/integrations/jobs?status=succeeded')).data.length === 3,
  );
  const failing = await customer('Initech', template);
  const jobsOf = async (status: string) =>
    (await stage.operator('GET', `/integrations/jobs?workspace_id=${failing}&status=${status}`)).data;
  await eventually('jobs have ended', async () => (await jobsOf('succeeded')).length === 1);
  // The destination does not work any more: where its folder was, there is a file.
  const folder = readdirSync(stage.dataDir, { recursive: true, encoding: 'utf8' }).find(
    (path) => path.includes(failing) && path.endsWith('/exports'),
  );
  if (!folder) throw new Error('There is no folder of exports.');
  rmSync(join(stage.dataDir, folder), { recursive: true });
  writeFileSync(join(stage.dataDir, folder), '');
  const [{ connection_id }] = await jobsOf('succeeded');
  await stage.operator('POST', `/integrations/connections/${connection_id}/sync`);
  const failingJobs = async () =>
    (await stage.operator('GET', `/integrations/jobs?workspace_id=${failing}&failing=true`)).data;
  await eventually('jobs have ended', async () => (await failingJobs()).length === 1);
  failedJob = (await failingJobs())[0].id;
});

async function signIn(page: Page, path = ''): Promise<void> {
  await page.goto(`${stage.publicUrl}/console${path}`);
  await page.getByLabel('Operator token').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation').waitFor();
}

async function picture(page: Page, name: string): Promise<void> {
  if (!process.env.INLAY_PICTURES && !isLongRun) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: `${pictures}${name}.png`, fullPage: true });
}

/** Says what the browser reports of the one refused request when nobody is signed in. */
function forgetRefusals(): void {
  const others = stage.takeProblems().filter((problem) => !/status of 401/.test(problem));
  expect(others).toEqual([]);
}

const screens: Record<string, { path: () => string; shows: string }> = {
  overview: { path: () => '', shows: words.overview.day },
  customers: { path: () => '/customers', shows: 'Globex' },
  customer: { path: () => `/customers/${ids['Acme Inc.']}`, shows: 'Timeline' },
  connections: { path: () => '/connections', shows: 'Globex' },
  jobs: { path: () => '/jobs', shows: 'Globex' },
  job: { path: () => `/jobs/${failedJob}`, shows: words.job.logLines },
};

it.each(['light', 'dark'] as const)(
  'Every screen of the console is accessible and fits a phone in the %s theme',
  async (colorScheme) => {
    const page = await stage.newPage({ colorScheme, viewport: { width: 1280, height: 800 } });
    await page.goto(`${stage.publicUrl}/console`);
    await page.getByLabel('Operator token').waitFor();
    await expectAccessible(page.mainFrame(), 'sign-in');
    await picture(page, `sign-in-${colorScheme}`);
    await signIn(page);
    forgetRefusals();
    for (const [index, [name, { path, shows }]] of Object.entries(screens).entries()) {
      for (const [size, viewport] of Object.entries({
        desktop: { width: 1280, height: 800 },
        phone: { width: 320, height: 640 },
      })) {
        // A short run looks at each screen once: half of them light on a desktop, the other half dark on a phone.
        const chosen = index % 2 === 0 ? 'light desktop' : 'dark phone';
        if (!isLongRun && chosen !== `${colorScheme} ${size}`) continue;
        await page.setViewportSize(viewport);
        await page.goto(`${stage.publicUrl}/console${path()}`);
        const seen = name === 'job' ? page.getByRole('region', { name: shows }) : page.getByText(shows).first();
        await seen.waitFor();
        await page.getByText('Loading…').first().waitFor({ state: 'detached' });
        await expectAccessible(page.mainFrame(), `${name} ${size}`);
        await expectToFit(page.mainFrame(), `${name} ${size}`);
        await picture(page, `${name}-${colorScheme}-${size}`);
      }
    }
  },
);

it('A hostile name is text on every screen', async () => {
  const page = await stage.newPage();
  await signIn(page, '/customers');
  await page.getByRole('link', { name: hostileName }).click();
  await page.getByRole('heading', { name: hostileName }).waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect(await page.title()).toContain(hostileName);
  forgetRefusals();
});

it('A job shows how its rows came, and its log is searched without an error to go to', async () => {
  const page = await stage.newPage();
  const ofAcme = `/integrations/jobs?workspace_id=${ids['Acme Inc.']}&status=succeeded`;
  const [good] = (await stage.operator('GET', ofAcme)).data;
  await signIn(page, `/jobs/${good.id}`);
  await page.getByRole('img', { name: /^Rows over time: 310 rows, / }).waitFor();
  const lines = page.getByRole('region', { name: words.job.logLines });
  await lines.getByText('sync, attempt 1').waitFor();
  await page.getByRole('searchbox', { name: words.job.logSearch }).fill('no such text');
  await page.keyboard.press('Enter');
  await page.getByText(words.job.noMatch('no such text')).waitFor();
  await page.getByRole('button', { name: 'First error' }).click();
  await page.getByText(words.job.noError).waitFor();
  forgetRefusals();
});

it('Keys are enough: search, rows, another screen, the list of keys', async () => {
  const page = await stage.newPage();
  await signIn(page);
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await page.getByRole('heading', { name: 'Customers' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('glob');
  await page.waitForURL(/name_contains=glob/);
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  await page.locator('main').focus();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Globex' }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  forgetRefusals();
});

it('An ended session asks for a sign-in over the page, and the page continues', async () => {
  const page = await stage.newPage();
  await signIn(page, `/customers/${ids.Globex}`);
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await page.getByLabel('New name').fill('Globex Europe');
  await page.context().clearCookies();
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  const dialog = page.getByRole('dialog', { name: words.signIn.endedTitle });
  await dialog.getByLabel('Operator token').fill(token);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await expect.poll(() => dialog.count()).toBe(0);
  expect(await page.getByLabel('New name').inputValue()).toBe('Globex Europe');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { name: 'Globex Europe' }).waitFor();
  forgetRefusals();
});

it('An error shows its text, its code, the id of the request and help', async () => {
  const page = await stage.newPage();
  await signIn(page, '/jobs/99999999');
  const notice = page.getByRole('alert').first();
  await notice.getByText('Job not found').waitFor();
  await notice.getByText('job_not_found').waitFor();
  await notice.getByText(/removed after the retention period/).waitFor();
  await notice.getByRole('button', { name: words.errors.copyId }).waitFor();
  const others = stage.takeProblems().filter((problem) => !/status of (401|404)/.test(problem));
  expect(others).toEqual([]);
});

it('A customer is deleted only after its name was typed', async () => {
  const page = await stage.newPage();
  const { token: whole } = await stage.operator('POST', '/embedded/scoped-token', { workspace_name: 'Doomed' });
  expect(whole).toBeTruthy();
  await signIn(page, '/customers');
  await page.getByRole('link', { name: 'Doomed' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  expect(await dialog.count()).toBe(1);
  await dialog.getByLabel(/Type Doomed/).fill('Doomed');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Customers' }).waitFor();
  await expect.poll(() => page.getByRole('link', { name: 'Doomed' }).count()).toBe(0);
  forgetRefusals();
});

describe('A retry of a cause', () => {
  const retries = async () => (await stage.operator('GET', '/integrations/causes/retries')).data;

  itInLongRun('is the work of the service: the page is closed, and a later one shows the outcome', async () => {
    const leaving = await stage.newPage();
    await signIn(leaving);
    await leaving.getByRole('button', { name: 'Retry all', exact: true }).click();
    await leaving.getByText('1 of 1 tried').or(leaving.getByText('0 of 1 tried')).waitFor();
    await leaving.close();
    await eventually('the sync has failed again', async () => {
      const [{ state, connections }] = await retries();
      return state === 'finished' && connections.failed === 1;
    });

    const page = await stage.newPage({ viewport: { width: 1280, height: 800 } });
    await signIn(page);
    const told = page.locator('.c-retry');
    await told.getByText('1 failed again').waitFor();
    expect(await told.innerText()).toMatch(
      new RegExp(`^${words.overview.retryEnded} .*${words.overview.tried(1, 1)}`, 's'),
    );
    await expectAccessible(page.mainFrame(), 'retry');
    await picture(page, 'overview-retried');
    forgetRefusals();
  });

  itInLongRun(
    'shows how far it is while it runs, also where its cause is no longer listed, and is stopped',
    async () => {
      const page = await openConsole(stage, 'customers', { permission: 'operator' });
      const connections = { total: 200, waiting: 120, started: 76, succeeded: 60, failed: 2, skipped: 3, refused: 1 };
      const retry = {
        id: '8b0d2c44-6f0e-4a57-9d35-1c7e2b9f4a60',
        cause: 'e'.repeat(32),
        message: 'The warehouse does not answer.',
        state: 'running',
        state_reason: null,
        connections,
        has_more: true,
        created_at: new Date().toISOString(),
        ended_at: null as string | null,
      };
      await page.route('**/causes/retries?*', (route) => route.fulfill({ json: { data: [retry] } }));
      let stops = 0;
      await page.route(`**/causes/retries/${retry.id}/stop`, (route) => {
        stops += 1;
        Object.assign(retry, { state: 'stopped', ended_at: new Date().toISOString() });
        return route.fulfill({ json: retry });
      });
      await page.getByRole('link', { name: 'Overview' }).click();
      const told = page
        .locator('.c-panel')
        .filter({ has: page.getByRole('heading', { name: 'Retries', exact: true }) });
      await told.getByRole('progressbar', { name: '80 of 200 tried' }).waitFor();
      await told.getByText(retry.message).waitFor();
      await told.getByText(words.overview.retryHasMore).waitFor();
      await told.getByRole('button', { name: `${words.copy.curl}: ${words.overview.stopRetry}` }).waitFor();
      await expectGoodLooks(page, 'overview-retrying', told);
      await told.getByRole('button', { name: 'Stop retry', exact: true }).click();
      await told.getByText(words.overview.retryStopped).waitFor();
      await expect.poll(() => told.getByRole('progressbar').count()).toBe(0);
      expect(stops).toBe(1);
    },
  );

  it('says what could not be started and why, and is nothing for a viewer to begin', async () => {
    const quotas = `/workspaces/${ids.Initech}/quotas`;
    await stage.operator('PUT', quotas, { shortest_interval_seconds: 86_400 });
    const [{ cause }] = (await stage.operator('GET', '/integrations/overview')).causes;
    const { id } = await stage.operator('POST', '/integrations/causes/retries', { cause });
    await eventually('it has ended', async () => (await retries())[0].state === 'finished');
    expect((await retries())[0]).toMatchObject({ id, connections: { total: 1, refused: 1 } });

    const page = await stage.newPage({ viewport: { width: 320, height: 800 }, colorScheme: 'dark' });
    await signIn(page);
    await page.getByRole('button', { name: words.overview.notStarted(1) }).click();
    const dialog = page.getByRole('dialog', { name: words.overview.notStarted(1) });
    await dialog.getByText('quota_reached').waitFor();
    await expectAccessible(page.mainFrame(), 'reasons of a retry');
    await expectToFit(page.mainFrame(), 'reasons of a retry');
    await picture(page, 'overview-retry-reasons');
    await stage.operator('DELETE', quotas);
    forgetRefusals();

    const viewer = await openConsole(stage, '', { permission: 'read' });
    await viewer.locator('.c-retry').first().waitFor();
    expect(await viewer.getByRole('button', { name: 'Retry all' }).count()).toBe(0);
  });
});

describe('A failing customer', () => {
  const reason = /exports|folder|directory|EEXIST|ENOTDIR/i;

  it('is found with its reason in three clicks from the overview, down to the line of the log', async () => {
    const page = await stage.newPage();
    await signIn(page);
    let clicks = 0;
    const click = async (what: Locator) => {
      clicks += 1;
      await what.click();
    };
    const row = page
      .getByRole('table', { name: words.overview.unwell.needs_attention })
      .getByRole('row')
      .filter({ hasText: 'Initech' });
    const told = await row.locator('.c-clamp').innerText();
    expect(told).toMatch(reason);
    await click(row.getByRole('link', { name: told }));
    await page.getByRole('region', { name: words.job.logLines }).waitFor();
    expect(await page.getByLabel(words.job.facts).innerText()).toContain(told);
    await click(page.getByRole('button', { name: 'First error' }));
    const line = page.locator('.c-log-sought');
    await line.waitFor();
    expect(await line.getAttribute('class')).toContain('c-log-error');
    expect(clicks).toBeLessThanOrEqual(3);
    forgetRefusals();
  });

  it('is reached with three keys and a pasted token, from the sign-in to the reason', async () => {
    const page = await stage.newPage();
    await page.goto(`${stage.publicUrl}/console`);
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT');
    await page.keyboard.insertText(token);
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: words.overview.unwell.needs_attention }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Initech' }).waitFor();
    await page.getByLabel('Summary').getByText(reason).waitFor();
    // A screen begins with its heading; the next key is one of that screen.
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    forgetRefusals();
  });

  it('has a log that is searched, and a line that is found is shown among its neighbors', async () => {
    const page = await stage.newPage();
    await signIn(page, `/jobs/${failedJob}`);
    const lines = page.getByRole('region', { name: words.job.logLines }).getByRole('listitem');
    await lines.first().waitFor();
    const all = await lines.count();
    const search = page.getByLabel(words.job.logSearch);
    await search.fill('no line has these words');
    await search.press('Enter');
    await page.getByText(words.job.noMatch('no line has these words')).waitFor();
    await search.fill('ERROR');
    await search.press('Enter');
    await page.getByRole('button', { name: words.job.clearSearch }).waitFor();
    await lines.first().waitFor();
    expect(await lines.count()).toBeLessThan(all);
    await lines.first().getByRole('button').click();
    await page.locator('.c-log-sought').waitFor();
    expect(await lines.count()).toBe(all);
    forgetRefusals();
  });
});

itInLongRun('A customer is synced, paused, suspended and reactivated, and its tokens are revoked', async () => {
  const page = await stage.newPage();
  const { token: scoped } = await stage.widgetToken({ workspace_name: 'Acme Inc.' });
  const isRefused = async () =>
    (await fetch(`${stage.service.url}/api/v1/embedded/sources`, { headers: { authorization: `Bearer ${scoped}` } }))
      .status === 401;
  await signIn(page, `/customers/${ids['Acme Inc.']}`);
  const press = async (name: string, said: string) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('status').getByText(said, { exact: true }).waitFor();
  };
  const jobs = async () => (await stage.operator('GET', `/integrations/jobs?workspace_id=${ids['Acme Inc.']}`)).data;
  const before = (await jobs()).length;
  const connection = (await stage.operator('GET', `/integrations/connections?workspace_id=${ids['Acme Inc.']}`))
    .data[0];
  const status = async () => (await stage.operator('GET', `/workspaces/${ids['Acme Inc.']}`)).status;
  await press(`Sync now: ${connection.name}`, 'Sync started');
  await eventually('the sync has ended', async () => {
    const [latest] = await jobs();
    return latest.status === 'succeeded' && (await jobs()).length === before + 1;
  });
  await press(`Pause: ${connection.name}`, 'Connection paused');
  await press(`Resume: ${connection.name}`, 'Connection resumed');
  await press('Suspend', 'Customer suspended');
  expect(await status()).toBe('inactive');
  await press('Reactivate', 'Customer reactivated');
  expect(await status()).toBe('active');
  expect(await isRefused()).toBe(false);
  await press('Revoke tokens', 'Tokens revoked');
  expect(await isRefused()).toBe(true);
  forgetRefusals();
});

it('Every screen fits a phone, lacks no word, and is English in a German browser', async () => {
  const page = await stage.newPage({ viewport: { width: 320, height: 640 }, locale: 'de-DE' });
  await page.goto(`${stage.publicUrl}/console`);
  await page.locator('input').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await page.waitForSelector('main h1');
  expect(await page.locator('html').getAttribute('lang')).toBe('en');
  const listed = await page
    .getByRole('navigation')
    .getByRole('link')
    .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).pathname));
  expect(listed.length).toBeGreaterThan(10);
  const more = [`customers/${ids['Acme Inc.']}`, `jobs/${failedJob}`, `connectors/${sampleData}`];
  const times = new Set<string>();
  for (const path of [...listed, ...more.map((one) => `/console/${one}`)]) {
    await page.evaluate((address) => {
      if (address.replace(/\/$/, '') === location.pathname) return;
      document.querySelector('main h1')?.setAttribute('data-old', '');
      history.pushState(null, '', address);
      dispatchEvent(new PopStateEvent('popstate'));
    }, path);
    await page.waitForSelector('main h1:not([data-old])');
    await expect.poll(() => page.locator('main .c-bones').count()).toBe(0);
    const shown = await page.locator('body').innerText();
    expect(shown, path).not.toMatch(/undefined|\[object|NaN|Invalid Date|\bnull\b/);
    const titles = await page
      .locator('main time[title]')
      .evaluateAll((all) => all.map((time) => (time as HTMLElement).title));
    for (const time of titles) times.add(time);
    await expectToFit(page.mainFrame(), path);
    await picture(page, `phone${path.replaceAll(/\/|[\da-f-]{36}/g, '-')}`);
  }
  expect(times.size).toBeGreaterThan(0);
  for (const time of times) expect(time).toMatch(/^[A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:\d\d\s[AP]M$/);
  forgetRefusals();
});
