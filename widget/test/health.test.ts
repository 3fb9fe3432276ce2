/** What a customer sees of a connection that does well or not, and what the customer may choose and stop, in Chromium. */
import type { Connection } from '@inlay/contract/pipelines/connections';
import type { Health } from '@inlay/contract/pipelines/health';
import type { Frame, Page, Request } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { isLongRun, itInLongRun } from '../../scripts/long-run.ts';
import words from '../src/words/en.ts';
import { frameOf, takePicture, useStage, widgetFrame } from './support/stage.ts';

const stage = useStage();

beforeAll(async () => {
  await stage.connectionTemplate({
    sync_on_create: false,
    customer_may_change: { streams: true, schedule: { shortest_minutes: 60 } },
  });
  await stage.sourceTemplate();
});

const sizes = { phone: { width: 320, height: 640 }, desktop: { width: 900, height: 760 } };
/** A short run tries the narrow one, where less fits. */
const tried = isLongRun ? sizes : { phone: sizes.phone };
const connections = '**/api/v1/embedded/connections';

async function open(page: Page, workspace_name: string): Promise<Frame> {
  const { widgetUrl } = await stage.widgetToken({ workspace_name });
  const style = 'position: fixed; inset: 0; width: 100%; height: 100%; border: 0';
  await page.goto(stage.origin + stage.hostPage(frameOf(widgetUrl, style)));
  return await widgetFrame(page);
}

async function connect(page: Page, workspace_name: string): Promise<void> {
  const frame = await open(page, workspace_name);
  await frame.getByRole('button', { name: 'Test and connect' }).click();
  await frame.getByRole('button', { name: 'Done' }).click();
  await frame.waitForSelector('[data-screen="list"]');
}

/** As if the service said this of the connection. */
async function pretend(page: Page, changes: (connection: Connection) => Partial<Connection>): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.route(connections, async (route) => {
    const response = await route.fetch();
    const { data } = (await response.json()) as { data: Connection[] };
    const json = { data: data.map((connection) => ({ ...connection, ...changes(connection) })) };
    await route.fulfill({ response, json });
  });
}

const well: Health = {
  state: 'healthy',
  since: null,
  failures_in_a_row: 0,
  trying_again: false,
  first_error: null,
  last_good_at: '2026-01-31T09:00:00.000Z',
  attention: null,
  paused_because: null,
  paused_reason: null,
};
const run = (changes: object): Connection['last_run'] => ({
  id: '17',
  status: 'succeeded',
  started_at: '2026-01-31T09:00:00.000Z',
  ended_at: '2026-01-31T09:01:00.000Z',
  duration_seconds: 60,
  rows: 661,
  bytes: 1000,
  error: null,
  error_reason: null,
  ...changes,
});
const ongoing = { status: 'running', ended_at: null, duration_seconds: null };
const failing = { since: '2026-01-31T10:02:00.000Z', failures_in_a_row: 3 };
const ours = { code: 'problem_on_our_side', parameters: {} } as const;
const wrongPassword = 'The password is not accepted. Check the password.';

const healths: Record<string, { shows: string | RegExp; is: Partial<Connection> }> = {
  healthy: { shows: words.states.ready, is: { health: well, last_run: run({}) } },
  running: { shows: words.states.syncing, is: { health: { ...well, state: 'running' }, last_run: run(ongoing) } },
  failing: {
    shows: /Failing for .*, retrying/,
    is: {
      health: { ...well, ...failing, state: 'failing', trying_again: true },
      last_run: run({ ...ongoing, status: 'incomplete', error: 'The server does not answer.' }),
    },
  },
  'needs attention of the customer': {
    shows: words.states.failed,
    is: {
      health: {
        ...well,
        ...failing,
        state: 'needs_attention',
        attention: { by: 'customer', what: wrongPassword, code: 'connector_error', parameters: {} },
      },
      last_run: run({ status: 'failed', error: wrongPassword }),
    },
  },
  'needs attention of the operator': {
    shows: words.problemOnOurSide,
    is: {
      health: {
        ...well,
        ...failing,
        state: 'needs_attention',
        attention: { by: 'operator', what: 'Any words.', ...ours },
      },
      last_run: run({ status: 'failed', error: 'Any words.', error_reason: ours }),
    },
  },
  paused: {
    shows: words.source.paused,
    is: { health: { ...well, state: 'paused' }, status: 'inactive', last_run: run({}), next_run_at: null },
  },
  'paused by a quota': {
    shows: words.quotas.reached('1,000 rows per day', '').trim(),
    is: {
      health: {
        ...well,
        state: 'paused',
        paused_because: 'Any words.',
        paused_reason: {
          code: 'quota_paused',
          parameters: { quota: 'rows_per_day', limit: 1000, until: '2026-02-01T00:00:00.000Z' },
        },
      },
      status: 'inactive',
      last_run: run({}),
      next_run_at: null,
    },
  },
  'waiting because of a quota': {
    shows: words.quotas.reached('1 sync at a time', words.quotas.waits),
    is: {
      health: { ...well, state: 'running' },
      last_run: run({
        ...ongoing,
        status: 'pending',
        rows: null,
        bytes: null,
        waiting_because: 'Any words.',
        waiting_reason: { code: 'quota_waiting', parameters: { quota: 'concurrent_syncs', limit: 1 } },
      }),
    },
  },
  'never synced': {
    shows: words.list.notSynced,
    is: { health: { ...well, state: 'never_synced', last_good_at: null } },
  },
};

it('shows the state of a connection in every health', async () => {
  const page = await stage.newPage();
  await connect(page, 'healths');
  for (const [size, viewport] of Object.entries(tried)) {
    await page.setViewportSize(viewport);
    for (const [name, { shows, is }] of Object.entries(healths)) {
      await pretend(page, () => is);
      const frame = await open(page, 'healths');
      await takePicture(page, `health-${size}-${name}-list`.replaceAll(' ', '-'));
      await frame.getByRole('button', { name: /Demo shop/ }).click();
      await frame.waitForSelector('[data-screen="source"]');
      await frame.getByText(shows).first().waitFor();
      await takePicture(page, `health-${size}-${name}`.replaceAll(' ', '-'));
    }
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

it('lets a customer stop a sync that runs', async () => {
  const page = await stage.newPage({ viewport: sizes.desktop });
  await connect(page, 'stops');
  let isStopped = false;
  await pretend(page, () => ({ last_run: run(isStopped ? { status: 'cancelled' } : ongoing) }));
  await page.route('**/connections/*/cancel', async (route) => {
    expect(route.request().method()).toBe('POST');
    isStopped = true;
    await route.fulfill({ json: run({ status: 'cancelled' }) });
  });
  const frame = await open(page, 'stops');
  await frame.getByRole('button', { name: /Demo shop/ }).click();
  const cancel = frame.getByRole('button', { name: words.source.cancelSync });
  await cancel.click();
  await cancel.waitFor({ state: 'hidden' });
  await frame.getByRole('button', { name: 'Sync now' }).waitFor();
  expect(isStopped).toBe(true);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

it('lets a customer choose streams and how often, within what the template allows', async () => {
  const page = await stage.newPage({ viewport: sizes.phone });
  await connect(page, 'chooses');
  const frame = await open(page, 'chooses');
  await frame.getByRole('button', { name: /Demo shop/ }).click();
  await frame.getByRole('button', { name: words.choice.open }).click();
  const often = frame.getByLabel(words.choice.often);
  await often.waitFor();
  expect(await often.locator('option').allTextContents()).toEqual([
    'Every hour',
    'Every 3 hours',
    'Every 6 hours',
    'Every 12 hours',
    'Every day',
    'Every week',
    words.choice.byHand,
  ]);
  await takePicture(page, 'choice-phone');
  const streams = ['users', 'products', 'purchases'];
  for (const name of streams) await frame.getByLabel(name, { exact: true }).uncheck();
  const save = frame.getByRole('button', { name: 'Save', exact: true });
  await save.click();
  await frame.getByText(words.form.faults.choose).waitFor();
  await takePicture(page, 'choice-phone-fault');
  await frame.getByLabel('users', { exact: true }).check();
  await often.selectOption({ label: 'Every day' });
  await page.setViewportSize(sizes.desktop);
  await takePicture(page, 'choice-desktop');
  await save.click();
  await frame.getByText(words.source.saved).waitFor();
  await takePicture(page, 'choice-desktop-saved');
  const { data } = await stage.operator('GET', '/integrations/connections?limit=100');
  const [mine] = data.filter(({ own_choice }: Connection) => own_choice.length > 0);
  expect(mine).toMatchObject({ cron_expression: '0 0 2 * * ?', own_choice: ['cron_expression', 'streams'] });
  const chosen = (await stage.operator('GET', `/integrations/connections/${mine.id}/streams`)).data;
  expect(chosen.filter(({ selected }: { selected: boolean }) => selected)).toMatchObject([{ name: 'users' }]);
});

/** Blocks waiters until opened. */
function latch() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

itInLongRun(
  'takes a customer to the offers who disconnects while a sync runs, however long the platform takes',
  async () => {
    const page = await stage.newPage({ viewport: sizes.desktop });
    await connect(page, 'leaves');
    await stage.sourceTemplate({ name: 'Second shop' });
    await pretend(page, () => ({ last_run: run(ongoing) }));
    const frame = await open(page, 'leaves');
    await frame.getByRole('button', { name: /Demo shop/ }).click();
    await frame.getByRole('tab', { name: 'Settings' }).click();
    await frame.getByRole('button', { name: 'Disconnect' }).click();

    // A look that has begun before is answered after the source is gone.
    const early = latch();
    const begun = latch();
    const looks: Request[] = [];
    page.on('request', (request) => {
      if (/embedded\/(sources|connections)$/.test(request.url())) looks.push(request);
    });
    await page.route(connections, async (route) => {
      begun.open();
      await early.opened;
      await route.fallback();
    });
    await page.clock.install();
    await page.clock.runFor(2_000);
    await begun.opened;
    const answer = latch();
    const gone = latch();
    await page.route('**/api/v1/embedded/sources/*', async (route) => {
      const response = await route.fetch();
      gone.open();
      await answer.opened;
      await route.fulfill({ response });
    });
    await frame.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await gone.opened;
    early.open();
    // As many refreshes as happen in that time.
    for (let second = 0; second < 60; second += 1) {
      await Promise.all(looks.splice(0).map((request) => request.response()));
      await page.clock.runFor(1_000);
    }
    answer.open();
    const shown = () => frame.locator('[data-screen]').getAttribute('data-screen');
    await expect.poll(shown).toBe('choose');
    expect(await frame.getByText(words.disconnect.done('Demo shop')).count()).toBe(1);
    expect(await frame.getByRole('button', { name: /Your source/ }).count()).toBe(0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  },
);
