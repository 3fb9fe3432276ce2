import { specification as file } from '@inlay/connectors/file/specification';
import { specification as httpApi } from '@inlay/connectors/http-api/specification';
import { specification as s3 } from '@inlay/connectors/s3/specification';
import { specification as sampleData } from '@inlay/connectors/sample-data/specification';
import { specification as sourcePostgres } from '@inlay/connectors/source-postgres/specification';
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { widgetLocales } from '@inlay/contract/embedding';
import en from '@inlay/ui/form/words/en.ts';
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { isLongRun, itInLongRun } from '../../scripts/long-run.ts';
import { configured } from './generated-specifications.ts';
import { everyConvention, githubLike, postgresLike, sheetsLike, stripeLike } from './specifications.ts';
import { show, submit, takeSubmitted, useFormStage } from './support/form-stage.ts';
import { expectAccessible } from './support/looks.ts';
import { takePicture } from './support/stage.ts';

const stage = useFormStage();

const bundled: Record<string, JsonSchema> = {
  file: file.connectionSpecification,
  'http-api': httpApi.connectionSpecification,
  s3: s3.connectionSpecification,
  'sample-data': sampleData.connectionSpecification,
  'source-postgres': sourcePostgres.connectionSpecification,
};
/** As connectors of others have them. */
const foreign: Record<string, JsonSchema> = { postgresLike, githubLike, sheetsLike, stripeLike };

const unfold = (page: Page) =>
  page.evaluate(() => {
    for (const fold of document.querySelectorAll('details')) fold.open = true;
  });
const focusedId = (page: Page) => page.evaluate(() => document.activeElement?.id);
const describedAs = (page: Page, label: string) =>
  page.getByLabel(label, { exact: true }).evaluate((control) =>
    (control.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent)
      .join(' '),
  );

/** A short run tries the language with the longest words, and one without Latin letters. */
const tried = isLongRun ? widgetLocales : (['de', 'ja'] as const);

describe('a form', () => {
  it.each(Object.entries({ ...bundled, ...(isLongRun && foreign), everyConvention }))(
    'The whole form for %s has no barriers',
    async (name, specification) => {
      const page = await stage.open({ specification });
      await unfold(page);
      await submit(page);
      await expectAccessible(page.mainFrame(), name);
    },
  );

  it('has no barriers before anything is wrong, and while nothing can be changed', async () => {
    const page = await stage.open({ specification: everyConvention });
    await unfold(page);
    await expectAccessible(page.mainFrame(), 'new');
    await show(page, { specification: everyConvention, disabled: true });
    await expectAccessible(page.mainFrame(), 'disabled');
  });

  it.each(tried)('The form speaks %s', async (language) => {
    const page = await stage.open({ specification: everyConvention }, { language, width: 480 });
    await page.locator('.page-submit').click();
    const said = (await page.getByRole('status').textContent()) ?? '';
    expect(said).toMatch(/\d/);
    expect(said.includes('attention')).toBe(language === 'en');
    const fault = (await page.locator('.inlay-field-fault').first().textContent()) ?? '';
    expect(fault.includes(en.faults.required)).toBe(language === 'en');
    if (isLongRun || language === 'ja') await expectAccessible(page.mainFrame(), language);
    await takePicture(page, `form-${language}`);
  });

  it.each(['light', 'dark'] as const)('fits a narrow page, %s', async (colorScheme) => {
    const page = await stage.open({ specification: everyConvention }, { colorScheme, width: 320 });
    await unfold(page);
    await submit(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    await expectAccessible(page.mainFrame(), colorScheme);
    await takePicture(page, `form-320-${colorScheme}`);
  });

  itInLongRun('gives back configurations that nobody touched', async () => {
    const page = await stage.open({ specification: stripeLike });
    const samples = fc.sample(configured, { numRuns: isLongRun ? 40 : 15, seed: 5 });
    for (const [index, { specification, configuration }] of samples.entries()) {
      await show(page, { specification, value: configuration }, `sample ${index}`);
      expect(await submit(page)).toEqual(configuration);
    }
  });

  it('shows hostile names and help as text', async () => {
    const title = `<img src=x onerror=alert(1)>\u202eevil ${'long'.repeat(2_500)}`;
    const description =
      '<b>Bold</b> <script>alert(1)</script><a href="javascript:alert(1)">bad</a> <a href="https://example.com/" onclick="x">good</a>' +
      '<img src=x onerror=alert(1)><p style="color:red">styled</p><iframe src="https://example.com"></iframe>' +
      '<style>p { color: red }</style><svg style="color:red"><style>b {}</style></svg><b title="<i style=color:red>"></b>' +
      'https://<your-domain>.<Region Name>/<path> <x onerror=alert(1)>' +
      `${'<div>'.repeat(3_000)}deep`;
    const page = await stage.open(
      { specification: { type: 'object', required: ['a'], properties: { a: { type: 'string', title, description } } } },
      { width: 320 },
    );
    expect(await page.locator('.inlay-field-title').textContent()).toBe(title);
    const help = page.locator('.inlay-field-help');
    const text = (await help.textContent()) ?? '';
    expect(text).toMatch(/^Bold bad goodstyledhttps:\/\/<your-domain>\.<Region Name>\/<path> <x onerror=alert\(1\)>/);
    expect(text).toMatch(/deep$/);
    expect(await help.locator('*').evaluateAll((all) => all.map((one) => one.outerHTML))).toEqual([
      '<b>Bold</b>',
      '<a href="https://example.com/" target="_blank" rel="noopener noreferrer">good</a>',
      '<p>styled</p>',
      '<b></b>',
    ]);
    expect(stage.takeProblems(), 'no report of a violated policy').toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  });
});

describe('faults', () => {
  it('are not shown before the form is submitted, then at their fields, and the first gets the focus', async () => {
    const page = await stage.open({ specification: stripeLike });
    await page.getByLabel('Account ID').fill('x');
    await page.getByLabel('Account ID').blur();
    expect(await page.locator('.inlay-field-fault').count()).toBe(0);
    expect(await submit(page)).toBeUndefined();
    await expect.poll(() => focusedId(page)).toBe('connector/account_id');
    expect(await describedAs(page, 'Account ID')).toContain(en.faults.pattern('acct_…'));
    expect(await page.getByLabel('Account ID').getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByRole('status').textContent()).toContain('2 fields');
  });

  it('go as soon as they are fixed, and come at once where they were', async () => {
    const page = await stage.open({ specification: stripeLike });
    await submit(page);
    await page.getByLabel('Account ID').fill('acct_1');
    await expect.poll(() => page.locator('.inlay-field-fault').count()).toBe(1);
    await page.getByLabel('Secret Key', { exact: true }).fill('nothing');
    await expect.poll(() => describedAs(page, 'Secret Key')).toContain(en.faults.format.other);
    await page.getByLabel('Secret Key', { exact: true }).fill('sk_test_1');
    await expect.poll(() => page.locator('.inlay-field-fault').count()).toBe(0);
    expect(await submit(page)).toEqual({
      account_id: 'acct_1',
      client_secret: 'sk_test_1',
      start_date: '2017-01-25T00:00:00Z',
      lookback_window_days: 0,
      num_workers: 10,
    });
  });

  it('open what hides them, each of them', async () => {
    const page = await stage.open({ specification: stripeLike });
    await page.getByText('Optional settings').click();
    await page.getByLabel('Number of concurrent workers').fill('99');
    await page.getByText('Optional settings').click();
    expect(await page.getByLabel('Number of concurrent workers').isVisible()).toBe(false);
    await submit(page);
    await expect.poll(() => page.getByLabel('Number of concurrent workers').isVisible()).toBe(true);
    await expect.poll(() => focusedId(page)).toBe('connector/account_id');
    expect(await describedAs(page, 'Number of concurrent workers')).toContain(en.faults.maximum(20));
  });

  it('are said once: at the field where there is one, below the fields where there is none', async () => {
    const page = await stage.open({ specification: stripeLike });
    await submit(page);
    await expect.poll(() => page.locator('.inlay-field-fault').count()).toBe(2);
    expect(await page.getByText(en.faults.required).count()).toBe(2);
    expect(await page.locator('.inlay-fault-summary').count()).toBe(0);
    const faults = [
      { path: ['account_id'], message: 'This account is closed.' },
      { path: ['elsewhere'], message: 'Out of quota.' },
    ];
    await show(page, { specification: stripeLike, faults });
    await expect.poll(() => page.locator('.inlay-fault-summary').textContent()).toBe('Out of quota.');
    expect(await page.getByText('This account is closed.').count()).toBe(1);
    expect(await page.getByText('Out of quota.').count()).toBe(1);
  });

  it('of the service stand at their fields until something else is entered there', async () => {
    const value = { account_id: 'acct_1', client_secret: '**********' };
    const page = await stage.open({ specification: stripeLike, value });
    const faults = [
      { path: ['client_secret'], message: 'This key was revoked.' },
      { path: ['client_secret'], message: 'Make another.' },
      { path: ['elsewhere', 0], message: 'Out of quota.' },
    ];
    await show(page, { specification: stripeLike, value, faults });
    await expect.poll(() => focusedId(page)).toBe('connector/client_secret');
    expect(await describedAs(page, 'Secret Key')).toContain('This key was revoked. Make another.');
    expect(await page.getByRole('status').textContent()).toContain('Out of quota.');
    await page.getByLabel('Account ID').fill('acct_2');
    expect(await page.getByText('This key was revoked.').isVisible()).toBe(true);
    await page.getByLabel('Secret Key', { exact: true }).fill('sk_live_2');
    await expect.poll(() => page.getByText('This key was revoked.').count()).toBe(0);
    expect(await submit(page)).toEqual({ account_id: 'acct_2', client_secret: 'sk_live_2' });
  });
});

describe('while a check runs', () => {
  it('nothing can be changed, and nothing is lost', async () => {
    const page = await stage.open({ specification: everyConvention });
    await page.getByLabel('Name', { exact: true }).first().fill('Rocket');
    await page.getByLabel('Paid').check();
    await page.getByLabel('Seats').fill('3');
    await show(page, { specification: everyConvention, disabled: true });
    expect(await page.locator('.inlay-form :is(input, select, textarea, button):enabled').count()).toBe(0);
    await show(page, { specification: everyConvention, disabled: false });
    expect(await page.getByLabel('Name', { exact: true }).first().inputValue()).toBe('Rocket');
    expect(await page.getByLabel('Seats').inputValue()).toBe('3');
  });
});

describe('a secret', () => {
  const key = (page: Page) => page.getByLabel('Secret Key', { exact: true });

  it('is hidden until its eye is pressed', async () => {
    const page = await stage.open({ specification: stripeLike });
    await key(page).fill('sk_test_1');
    const eye = page.getByRole('button', { name: 'Show Secret Key' });
    expect([await key(page).getAttribute('type'), await eye.getAttribute('aria-pressed')]).toEqual([
      'password',
      'false',
    ]);
    await eye.click();
    expect([await key(page).getAttribute('type'), await eye.getAttribute('aria-pressed')]).toEqual(['text', 'true']);
  });

  it('that is saved goes back as it came, can be replaced, and the replacement can be taken back', async () => {
    const value = { account_id: 'acct_1', client_secret: '**********' };
    const page = await stage.open({ specification: stripeLike, value });
    expect(await key(page).inputValue()).toBe('');
    expect(await key(page).getAttribute('placeholder')).toBe(en.saved);
    expect(await submit(page)).toEqual(value);
    await key(page).fill('sk_live_2');
    expect(await submit(page)).toEqual({ ...value, client_secret: 'sk_live_2' });
    await page.getByRole('button', { name: en.keepSaved }).click();
    await expect.poll(() => focusedId(page)).toBe('connector/client_secret');
    expect(await submit(page)).toEqual(value);
  });

  it('of several lines is hidden, too', async () => {
    const page = await stage.open({ specification: everyConvention });
    const box = page.getByLabel('Private key', { exact: true });
    await box.fill('-----BEGIN\nKEY');
    const veil = () => box.evaluate((element) => getComputedStyle(element).getPropertyValue('-webkit-text-security'));
    expect(await veil()).toBe('disc');
    await page.getByRole('button', { name: 'Show Private key' }).click();
    expect(await veil()).toBe('none');
  });
});

describe('a choice', () => {
  it('shows the branch of an existing configuration, and unfolds what was set', async () => {
    const value = {
      host: 'h',
      port: 1,
      database: 'd',
      username: 'u',
      ssl_mode: { mode: 'verify-ca', ca_certificate: '**********' },
      tunnel_method: {
        tunnel_method: 'SSH_PASSWORD_AUTH',
        tunnel_host: 'jump',
        tunnel_port: 22,
        tunnel_user: 'me',
        tunnel_user_password: '**********',
      },
    };
    const page = await stage.open({ specification: postgresLike, value });
    const mode = page.getByLabel('SSL Modes', { exact: true }).and(page.locator('select'));
    expect(await mode.locator('option:checked').textContent()).toBe('verify-ca');
    expect(await page.getByLabel('CA Certificate', { exact: true }).isVisible()).toBe(true);
    expect(await page.getByLabel('Password Authentication').isChecked()).toBe(true);
    expect(await page.getByLabel('Jump Server Host').inputValue()).toBe('jump');
    expect(await page.getByLabel('Schemas 1').isVisible()).toBe(false);
    expect(await submit(page)).toEqual(value);
  });

  it('takes along what branches share, submits the chosen one only, and forgets nothing meanwhile', async () => {
    const page = await stage.open({
      specification: postgresLike,
      value: { host: 'h', port: 1, database: 'd', username: 'u' },
    });
    await page.getByText('Security').click();
    await page.getByLabel('SSH Key Authentication').check();
    await page.getByLabel('Jump Server Host').fill('jump');
    await page.getByLabel('Login Username').fill('me');
    await page.getByLabel('Private Key', { exact: true }).fill('key');
    await page.getByLabel('Password Authentication').check();
    expect(await page.getByLabel('Jump Server Host').inputValue()).toBe('jump');
    await page.getByLabel('Login Password', { exact: true }).fill('pw');
    expect(await submit(page)).toMatchObject({
      tunnel_method: {
        tunnel_method: 'SSH_PASSWORD_AUTH',
        tunnel_host: 'jump',
        tunnel_port: 22,
        tunnel_user: 'me',
        tunnel_user_password: 'pw',
      },
    });
    await page.getByLabel('Jump Server Host').fill('other');
    await page.getByLabel('SSH Key Authentication').check();
    expect(await submit(page)).toEqual({
      host: 'h',
      port: 1,
      database: 'd',
      username: 'u',
      tunnel_method: {
        tunnel_method: 'SSH_KEY_AUTH',
        tunnel_host: 'other',
        tunnel_port: 22,
        tunnel_user: 'me',
        ssh_key: 'key',
      },
    });
  });
});

describe('every kind of field', () => {
  it('submits values of its type', async () => {
    const page = await stage.open({ specification: everyConvention });
    await page.getByLabel('Name', { exact: true }).first().fill('Rocket');
    await page.getByLabel('Secret', { exact: true }).fill('s3cret');
    await page.getByLabel('Size').fill('12');
    await page.getByLabel('Ratio').fill('0.50');
    await page.getByLabel('Region').selectOption({ label: '"\\t"' });
    await page.getByLabel('Active').check();
    await page.getByLabel('Since').fill('2024-02-29');
    await page.getByLabel('Tags 1').fill('red');
    await page.getByLabel('Numbers 1').fill('7');
    await page.getByLabel('customers').check();
    await page.getByLabel('orders').check();
    await page.getByRole('group', { name: 'Stream 1' }).getByLabel('Name').fill('first');
    await page.getByRole('button', { name: en.addTo('Streams') }).click();
    await expect.poll(() => focusedId(page)).toBe('connector/streams/1/name');
    await page.keyboard.type('second');
    await page
      .getByRole('group', { name: 'Stream 2' })
      .getByLabel('Format', { exact: true })
      .and(page.locator('select'))
      .selectOption('JSON');
    await page.locator('details:has([id="connector/free"]) > summary').click();
    await page.getByLabel('Free form').fill('{"a": [1]}');
    expect(await submit(page)).toEqual({
      kind: 'everything',
      internal: 'kept',
      name: 'Rocket',
      secret: 's3cret',
      size: 12,
      ratio: 0.5,
      region: '\t',
      active: true,
      since: '2024-02-29',
      plan: { plan: 'free' },
      tags: ['red'],
      numbers: [7],
      wanted: ['orders', 'customers'],
      streams: [
        { name: 'first', format: { type: 'csv', delimiter: ',' } },
        { name: 'second', format: { type: 'json' } },
      ],
      free: { a: [1] },
    });
    await page.getByRole('button', { name: 'Remove Stream 1' }).click();
    await page.getByLabel('Free form').fill('{"a": ');
    expect(await submit(page)).toBeUndefined();
    await page.getByLabel('Free form').fill('');
    expect(await submit(page)).toMatchObject({ streams: [{ name: 'second', format: { type: 'json' } }] });
  });

  it('that is a number leaves what is typed alone, and holds the number', async () => {
    const page = await stage.open({ specification: everyConvention, value: { ratio: 0.25, size: 'many' } });
    const ratio = page.getByLabel('Ratio');
    expect(await ratio.inputValue()).toBe('0.25');
    expect(await page.getByLabel('Size').inputValue()).toBe('many');
    for (const [typed, held] of [
      ['0.50', 0.5],
      ['.5', 0.5],
      ['1e3', 1000],
      ['-', '-'],
    ] as const) {
      await ratio.fill(typed);
      expect(await ratio.inputValue()).toBe(typed);
      await page.locator('.page-submit').click();
      await expect
        .poll(() => page.locator('[id="connector/ratio:fault"]').count())
        .toBe(typeof held === 'number' ? 0 : 1);
    }
  });

  itInLongRun('takes changes that come together, as a password manager makes them', async () => {
    const page = await stage.open({ specification: stripeLike });
    await page.evaluate(() => {
      for (const [id, value] of [
        ['connector/account_id', 'acct_1'],
        ['connector/client_secret', 'sk_test_1'],
      ] as const) {
        const input = document.getElementById(id) as HTMLInputElement;
        input.value = value;
        input.dispatchEvent(new InputEvent('input', { bubbles: true }));
      }
    });
    expect(await submit(page)).toMatchObject({ account_id: 'acct_1', client_secret: 'sk_test_1' });
  });

  itInLongRun('that is an item of a list keeps its saved secret when an item above it goes', async () => {
    const specification = {
      type: 'object',
      required: ['accounts'],
      properties: {
        accounts: {
          type: 'array',
          title: 'Accounts',
          items: {
            type: 'object',
            title: 'Account',
            required: ['key'],
            properties: { key: { type: 'string', title: 'Key', airbyte_secret: true } },
          },
        },
      },
    };
    const value = { accounts: [{ key: '***' }, { key: '*****' }] };
    const page = await stage.open({ specification, value });
    await page.getByRole('group', { name: 'Account 1' }).getByLabel('Key', { exact: true }).fill('new');
    await page.getByRole('button', { name: 'Remove Account 1' }).click();
    const key = page.getByRole('group', { name: 'Account 1' }).getByLabel('Key', { exact: true });
    expect(await key.getAttribute('placeholder')).toBe(en.saved);
    expect(await page.getByRole('button', { name: en.keepSaved }).count()).toBe(0);
    expect(await submit(page)).toEqual({ accounts: [{ key: '*****' }] });
  });

  itInLongRun('that is a point in time keeps the format the connector wants', async () => {
    const value = {
      credentials: { option_title: 'OAuth Credentials', access_token: '**********' },
      repositories: ['a/b'],
    };
    const page = await stage.open({
      specification: githubLike,
      value: { ...value, start_date: '2021-03-01T12:00:30Z' },
    });
    const date = page.getByLabel('Start date');
    expect(await date.inputValue()).toBe('2021-03-01T12:00:30');
    await date.fill('2022-04-05T06:07:00');
    expect(await submit(page)).toEqual({ ...value, start_date: '2022-04-05T06:07:00Z' });
    await date.fill('');
    expect(await submit(page)).toEqual(value);
  });
});

describe('with the keyboard alone', () => {
  it('a form is filled in and submitted', async () => {
    const page = await stage.open({ specification: githubLike });
    const tabTo = async (id: string) => {
      for (let presses = 0; (await focusedId(page)) !== id; presses += 1) {
        if (presses > 20) throw new Error(`Tab does not lead to ${id}`);
        await page.keyboard.press('Tab');
      }
    };
    await tabTo('connector/credentials:option-0');
    await page.keyboard.press('ArrowDown');
    await tabTo('connector/credentials/personal_access_token');
    await page.keyboard.type('ghp_1');
    await tabTo('connector/repositories/row-0');
    await page.keyboard.type('acme/rocket');
    await page.keyboard.press('Enter');
    await page.keyboard.type('x');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Enter');
    await page.keyboard.type('acme/*');
    await tabTo('send');
    await page.keyboard.press('Enter');
    expect(await takeSubmitted(page)).toEqual({
      credentials: { option_title: 'PAT Credentials', personal_access_token: 'ghp_1' },
      repositories: ['acme/rocket', 'acme/*'],
      max_waiting_time: 10,
    });
  });

  it('several lines that are pasted into a list become several rows', async () => {
    const page = await stage.open({ specification: githubLike });
    await page.getByLabel('Repositories 1').focus();
    await page.evaluate(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', 'a/b\nc/d\n');
      document.activeElement?.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
      );
    });
    await expect
      .poll(() =>
        page.locator('.inlay-list input').evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value)),
      )
      .toEqual(['a/b', 'c/d']);
    await expect.poll(() => focusedId(page)).toBe('connector/repositories/1');
  });
});
