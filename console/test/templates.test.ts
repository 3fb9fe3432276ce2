/** Templates, connectors and the playground of the widget, in Chromium. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeInLongRun, isLongRun, itInLongRun } from '../../scripts/long-run.ts';
import { wordsFor } from '../../server/src/credentials/sign-in/page-words.ts';
import { eventually } from '../../server/test/support/deployment.ts';
import { httpApi, localFiles, sampleData } from '../../server/test/support/pipelines.ts';
import { startProvider } from '../../widget/test/support/provider.ts';
import { useStage } from '../../widget/test/support/stage.ts';
import { words as frameWords } from '../src/parts/frames/frame-words.ts';
import { words as versionWords } from '../src/parts/tables/version-words.ts';
import { words as connectors } from '../src/screens/connectors/words.ts';
import { words as playground } from '../src/screens/playground/words.ts';
import { words as templates } from '../src/screens/templates/words.ts';
import { words } from '../src/words/words.ts';
import { expectGoodLooks, openConsole } from './support/signed-in.ts';

const { words: signInPages } = wordsFor('en');

const { editor: form, oauth } = templates;
const stage = useStage();
const hostile = '<img src=x onerror=alert(1)>';

const manifest = (title: string, more = '') => `version: 6.44.0
type: DeclarativeSource
check: { type: CheckStream, stream_names: [books] }
streams:
  - type: DeclarativeStream
    name: books
    retriever:
      type: SimpleRetriever
      requester: { type: HttpRequester, url_base: "https://api.example.com", path: /books }
      record_selector: { type: RecordSelector, extractor: { type: DpathExtractor, field_path: [data] } }
    schema_loader:
      type: InlineSchemaLoader
      schema: { type: object, properties: { id: { type: integer } } }
${more}spec:
  type: Spec
  connection_specification: { type: object, title: "${title}", properties: {} }
`;
const streamWithCode = `  - type: DeclarativeStream
    name: loans
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        url_base: "https://api.example.com"
        path: /loans
        authenticator: { type: CustomAuthenticator, class_name: source_x.components.Auth }
      record_selector: { type: RecordSelector, extractor: { type: DpathExtractor, field_path: [data] } }
    schema_loader:
      type: InlineSchemaLoader
      schema: { type: object, properties: { id: { type: integer } } }
`;

describe('Templates', () => {
  it('leads from nothing to a template made of a connector', async () => {
    const page = await openConsole(stage, 'templates');
    await page.getByText(templates.none.source).waitFor();
    await expectGoodLooks(page, 'templates-none');
    await page.getByRole('link', { name: templates.choose.source }).click();
    await page.getByRole('searchbox').fill('sample');
    // Rows still move before.
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    await page.getByRole('link', { name: /Sample Data/ }).click();
    await page.getByRole('link', { name: connectors.useIt }).click();
    const editor = page.getByLabel(templates.json).and(page.locator('textarea'));
    await editor.fill('{ "name": "Shop",\n "tags": }');
    await page.getByText(templates.notJson).waitFor();
    await page.getByRole('button', { name: 'line 2, column 10' }).click();
    expect(await editor.evaluate((area) => (area as HTMLTextAreaElement).selectionStart)).toBe(27);
    await editor.fill(
      JSON.stringify({ name: 'Shop', partial_default_config: { seed: 'seven' }, tags: ['crm'] }, null, 2),
    );
    await page.getByRole('button', { name: 'Create template', exact: true }).click();
    // The error is shown in place.
    await page.getByRole('button', { name: 'line 4, column 13' }).click();
    expect(
      await editor.evaluate((area) => {
        const { value, selectionStart, selectionEnd } = area as HTMLTextAreaElement;
        return value.slice(selectionStart, selectionEnd);
      }),
    ).toBe('"seven"');
    await expectGoodLooks(page, 'template-new');
    stage.takeProblems();
    await editor.fill(JSON.stringify({ name: hostile, partial_default_config: { seed: 7 }, tags: ['crm'] }));
    await page.getByRole('button', { name: 'Create template', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: hostile }).waitFor();
    expect((await stage.operator('GET', '/integrations/templates/sources')).data[0]).toMatchObject({ name: hostile });
    // The way on from here.
    await page.getByText(templates.next.connection.text).waitFor();
    await expectGoodLooks(page, 'template-created');
    await page.getByRole('link', { name: templates.next.connection.action }).click();
    await page.getByRole('link', { name: 'Local Files' }).waitFor();
  });

  it('is a form and JSON at once: fixes one field, asks for another, hides a third, and picks streams', async () => {
    const id = await stage.sourceTemplate({ name: 'Both', partial_default_config: { seed: 7 } });
    const page = await openConsole(stage, `templates/${id}`);
    const editor = page.getByLabel(templates.json).and(page.locator('textarea'));
    const inJson = async () => JSON.parse(await editor.inputValue());
    // The form changes the JSON.
    expect(await page.getByLabel(form.modeOf('Seed')).inputValue()).toBe('fixed');
    await page.getByLabel(form.modeOf('Seed')).selectOption('asked');
    expect((await inJson()).partial_default_config).toEqual({});
    await page.getByLabel(form.modeOf('Users')).selectOption('fixed');
    await page.getByLabel('Users', { exact: true }).fill('25');
    expect((await inJson()).partial_default_config).toEqual({ count: 25 });
    await page.getByLabel(form.modeOf('Seed')).selectOption('hidden');
    expect((await inJson()).customization.field_customizations).toEqual([{ path: ['seed'], hidden: true }]);
    // The JSON changes the form.
    const text = await editor.inputValue();
    await editor.fill(text.replace('"count": 25', '"count": 26'));
    expect(await page.getByLabel('Users', { exact: true }).inputValue()).toBe('26');
    // While it is broken, the form keeps what was there, and says so.
    await editor.fill('{');
    await page.getByText(form.broken, { exact: true }).waitFor();
    expect(await page.getByLabel('Users', { exact: true }).inputValue()).toBe('26');
    expect(await page.getByLabel('Users', { exact: true }).isDisabled()).toBe(true);
    await expectGoodLooks(page, 'template-broken');
    await page.getByRole('button', { name: form.restore }).click();
    expect((await inJson()).partial_default_config).toEqual({ count: 26 });
    // Streams are selected from those discovered.
    await page.getByLabel(form.streamMode).selectOption('whitelist');
    await page.getByRole('button', { name: form.discover }).click();
    const dialog = page.getByRole('dialog');
    await expectGoodLooks(page, 'template-discover');
    await dialog.getByRole('button', { name: form.discover }).click();
    await page.getByLabel('purchases', { exact: true }).check();
    expect((await inJson()).customization).toMatchObject({
      stream_selection_mode: 'whitelist',
      stream_whitelist: ['purchases'],
    });
    await expectGoodLooks(page, 'template-form');
    await page.getByRole('button', { name: templates.plan, exact: true }).click();
    await page.getByRole('button', { name: templates.save, exact: true }).click();
    await page.getByRole('button', { name: versionWords.restoreOf(1), exact: true }).waitFor();
    const saved = await stage.operator('GET', `/integrations/templates/sources/${id}`);
    expect(saved).toMatchObject({ version: 2, partial_default_config: { count: 26 } });
    expect(Object.keys(saved.user_config_spec.connectionSpecification.properties)).not.toContain('seed');
    // And back.
    await page.getByRole('button', { name: versionWords.restoreOf(1), exact: true }).click();
    await expectGoodLooks(page, 'template-versions');
    await dialog.getByRole('button', { name: versionWords.restore, exact: true }).click();
    await page.getByText(versionWords.copyOf(1)).waitFor();
    expect(await stage.operator('GET', `/integrations/templates/sources/${id}`)).toMatchObject({
      version: 3,
      partial_default_config: { seed: 7 },
    });
  });

  if (isLongRun) {
    it('A template shows more than one page of its versions, and goes back to a version of the second page', async () => {
      const id = await stage.sourceTemplate({ name: 'Often changed', partial_default_config: { seed: 1 } });
      const path = `/integrations/templates/sources/${id}`;
      for (let seed = 2; seed <= 22; seed++) await stage.operator('PATCH', path, { partial_default_config: { seed } });
      const page = await openConsole(stage, `templates/${id}`);
      const versions = page.getByRole('table', { name: 'Versions' });
      await expect.poll(() => versions.getByRole('row').count()).toBe(1 + 20);
      expect(await versions.getByRole('row').last().innerText()).toMatch(/^3\b[\s\S]*2 → 3/);
      await page.getByRole('button', { name: 'Show more', exact: true }).press('Enter');
      await expect.poll(() => versions.getByRole('row').count()).toBe(1 + 22);
      expect(await versions.getByRole('row').nth(21).innerText()).toMatch(/^2\b[\s\S]*1 → 2/);
      expect(await versions.getByRole('row').last().innerText()).toMatch(/^1\b[\s\S]*No earlier version/);
      // The button has gone, and the keyboard is still at the end of the list.
      expect(await page.getByText('22 shown', { exact: true }).evaluate((one) => one === document.activeElement)).toBe(
        true,
      );
      await expectGoodLooks(page, 'template-many-versions');
      await page.getByRole('button', { name: versionWords.restoreOf(1), exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: versionWords.restore, exact: true }).click();
      await page.getByText(versionWords.copyOf(1)).waitFor();
      expect(await stage.operator('GET', path)).toMatchObject({ version: 23, partial_default_config: { seed: 1 } });
    });
  }

  itInLongRun(
    'makes a destination with its whole configuration, its schedule in words, by keyboard on a narrow page',
    async () => {
      const page = await openConsole(stage, `templates/new?kind=connection&definition=${localFiles}`, {
        viewport: { width: 320, height: 900 },
      });
      await page.getByLabel(form.schedule).fill('0 30 2 * * ?');
      await page
        .getByText(/2:30|02:30/)
        .first()
        .waitFor();
      await page.getByRole('tab', { name: form.form }).focus();
      await page.keyboard.press('ArrowRight');
      const editor = page.getByLabel(templates.json).and(page.locator('textarea'));
      expect(JSON.parse(await editor.inputValue())).toMatchObject({ cron_expression: '0 30 2 * * ?' });
      await expectGoodLooks(page, 'template-destination');
      // What a customer would get follows the draft, and stays as it was while a draft is not possible.
      const preview = page.locator('.t-preview');
      await preview.getByText(frameWords.notYet).waitFor();
      const draft = { destination_name: 'Lake', destination_config: { path: 'lake' }, cron_expression: '0 30 2 * * ?' };
      await editor.fill(JSON.stringify(draft));
      await preview.getByText('Lake (Local Files)').waitFor();
      await preview.getByText(/2:30|02:30/).waitFor();
      await editor.fill(JSON.stringify({ ...draft, cron_expression: null, customer_may_change: { streams: true } }));
      await preview.getByText(form.onlyWhenAsked).waitFor();
      await preview.getByText(form.mayStreams, { exact: true }).waitFor();
      await expectGoodLooks(page, 'template-destination-preview', preview);
      // Beside the form a table has less room than on a phone. A part that is scrolled sideways cannot be reached by keyboard.
      const sideways = () => preview.locator('.c-table-frame').evaluate((one) => one.scrollWidth - one.clientWidth);
      for (const width of [1024, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await sideways(), `${width} wide`).toBe(0);
      }
      await editor.fill(JSON.stringify({ ...draft, destination_config: {} }));
      await preview.getByText(frameWords.lastGood).waitFor();
      await preview.getByText('Lake (Local Files)').waitFor();
      expect((await stage.operator('GET', '/integrations/templates/connections')).data).toEqual([]);
    },
  );

  it('sets up a sign-in: an administrator registers the client, the redirect address is there, and it can be tried', async () => {
    await stage.operator('POST', '/embedded/scoped-token', { workspace_name: 'tries sign-ins' });
    const client = { name: 'Registered', provider: 'hubspot', client_id: 'app', client_secret: 'a secret' };
    const { id: clientId } = await stage.operator('POST', '/integrations/oauth/clients', client);
    const id = await stage.sourceTemplate({
      name: 'Signs in',
      actor_definition_id: httpApi,
      partial_default_config: {},
      oauth: { oauth_client_id: clientId, fields: { access_token: ['authentication', 'token'] } },
    });
    const page = await openConsole(stage, `templates/${id}`);
    await page.getByRole('button', { name: oauth.register, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Provider').selectOption('hubspot');
    await dialog.getByLabel('Name', { exact: true }).fill('Second');
    await dialog.getByLabel(oauth.clientId).fill('other app');
    await dialog.getByLabel('Client secret').fill('another secret');
    await expectGoodLooks(page, 'template-oauth-client');
    await dialog.getByRole('button', { name: oauth.register, exact: true }).click();
    // The dialog goes when the service has answered.
    await dialog.waitFor({ state: 'hidden' });
    const { data } = await stage.operator('GET', '/integrations/oauth/clients');
    const second = data.find(({ name }: { name: string }) => name === 'Second');
    await page.getByText(second.redirect_url).waitFor();
    await page.getByLabel('Scopes', { exact: true }).fill('contacts.read');
    await page.keyboard.press('Enter');
    const editor = page.getByLabel(templates.json).and(page.locator('textarea'));
    expect(JSON.parse(await editor.inputValue()).oauth).toMatchObject({
      oauth_client_id: second.id,
      scopes: ['contacts.read'],
    });
    await page.getByRole('button', { name: oauth.test, exact: true }).click();
    const link = page.getByRole('link', { name: oauth.open });
    expect(await link.getAttribute('href')).toContain('/oauth/start/');
    await expectGoodLooks(page, 'template-oauth');
    const operator = await openConsole(stage, `templates/${id}`, { permission: 'operator' });
    await operator.getByRole('button', { name: oauth.test, exact: true }).waitFor();
    expect(await operator.getByRole('button', { name: oauth.register }).count()).toBe(0);
  });

  if (isLongRun) {
    it('A template shows the result of a test sign-in, and whether its tokens were revoked', async () => {
      const provider = await startProvider();
      onTestFinished(() => provider.close());
      await stage.operator('POST', '/embedded/scoped-token', { workspace_name: 'tries sign-ins' });
      const { id: oauth_client_id } = await stage.operator('POST', '/integrations/oauth/clients', {
        ...{ name: 'Ledgerline', client_id: 'us', client_secret: 'secret' },
        endpoints: { ...provider.endpoints, revocation_url: `${provider.url}/revoke` },
      });
      const id = await stage.sourceTemplate({
        name: 'Tried',
        actor_definition_id: httpApi,
        partial_default_config: {},
        oauth: { oauth_client_id, fields: { access_token: ['authentication', 'token'] }, scopes: ['invoices.read'] },
      });
      const page = await openConsole(stage, `templates/${id}`);
      const begin = () => page.getByRole('button', { name: oauth.test, exact: true }).click();
      await begin();
      const link = page.getByRole('link', { name: oauth.open });
      const [popup] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
      await popup.getByRole('button', { name: signInPages.continueTo('Ledgerline') }).click();
      await popup.getByRole('link', { name: 'Allow' }).click();
      await popup.getByRole('heading', { name: signInPages.connectedTitle }).waitFor();
      await page.getByText(oauth.succeeded).waitFor();
      await page.getByText('ada@example.com').waitFor();
      await page.getByText(oauth.tokens.done.title).waitFor();
      expect(provider.revoked).toEqual(provider.given.filter((one) => one.startsWith('token-')));

      // Other outcomes. The rest of the answer is the service's.
      let revocation = '';
      let looks = 0;
      await page.route('**/oauth/tests/*', async (route) => {
        looks += 1;
        const { id: testId } = await (await route.fetch()).json();
        const report = { scopes_asked: [], scopes_granted: null, scopes_missing: [], values: [] };
        await route.fulfill({
          json: {
            ...{ id: testId, state: 'succeeded', failure: null, message: null, revocation },
            report: {
              ...report,
              account: null,
              can_tell_accounts: false,
              expires_in_seconds: null,
              has_refresh_token: true,
            },
          },
        });
      });
      const notice = page.locator('.inlay-notice');
      for (const [state, toDo] of Object.entries({
        kept: /test with an account that no customer uses/,
        impossible: /remove your app’s access/,
        failed: /The provider didn’t revoke[\s\S]*remove your app’s access/,
      })) {
        revocation = state;
        await begin();
        await notice.filter({ hasText: toDo }).waitFor();
      }
      await expectGoodLooks(page, 'template-sign-in-failed', notice.last());
      // A pending revocation is polled for, but not forever.
      await page.clock.install();
      revocation = 'due';
      await begin();
      const again = page.getByRole('button', { name: oauth.lookAgain });
      await expect
        .poll(async () => {
          await page.clock.fastForward(2_000);
          return await again.count();
        })
        .toBe(1);
      await expectGoodLooks(page, 'template-sign-in-due', again);
      const before = looks;
      await page.clock.fastForward(60_000);
      expect([looks, before > 1]).toEqual([before, true]);
      revocation = 'done';
      await again.click();
      await page.getByText(oauth.tokens.done.title).waitFor();
    });
  }

  itInLongRun(
    'shows before saving which customers a change touches, then saves exactly that and shows the rollout',
    async () => {
      const id = await stage.sourceTemplate({ name: 'Planned' });
      await stage.connectionTemplate({ cron_expression: null });
      const { token } = await stage.operator('POST', '/embedded/scoped-token', { workspace_name: 'acme' });
      const made = await fetch(`${stage.service.url}/api/v1/embedded/sources`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ source_template_id: id, name: 'Our shop', source_config: { count: 1 } }),
      });
      expect(made.status, await made.text()).toBe(201);
      const page = await openConsole(stage, 'templates');
      const row = page.getByRole('row').filter({ hasText: 'Planned' });
      await expect.poll(() => row.innerText()).toMatch(/Planned[\s\S]*\t1\t/);
      await expectGoodLooks(page, 'templates');
      const other = await stage.sourceTemplate({ name: 'Not used' });
      await page.goto(`${stage.publicUrl}/console/connections?source_template_id=${other}`);
      await page.getByText(words.list.nothing).waitFor();
      await page.goBack();
      await row.getByRole('link', { name: '1', exact: true }).click();
      await page.getByRole('link', { name: 'acme' }).waitFor();
      await page.goBack();
      await row.getByRole('link', { name: /Planned/ }).click();
      const editor = page.getByLabel(templates.json).and(page.locator('textarea'));
      await page.getByRole('button', { name: templates.plan, exact: true }).click();
      await page.getByText(templates.unchanged).waitFor();
      const text = JSON.parse(await editor.inputValue());
      await editor.fill(JSON.stringify({ ...text, partial_default_config: { seed: 8 } }, null, 2));
      await page.getByRole('button', { name: templates.plan, exact: true }).click();
      await page.getByRole('link', { name: 'acme' }).waitFor();
      expect(await page.getByRole('table', { name: templates.planTitle }).innerText()).toMatch(
        /partial_default_config\.seed[\s\S]*7[\s\S]*8/,
      );
      await expectGoodLooks(page, 'template-plan');
      // Nothing has happened yet.
      expect((await stage.operator('GET', `/integrations/templates/sources/${id}`)).version).toBe(1);
      await page.getByRole('button', { name: templates.save, exact: true }).click();
      await page.getByRole('table', { name: templates.rollouts }).getByRole('rowheader', { name: '2' }).waitFor();
      expect(await stage.operator('GET', `/integrations/templates/sources/${id}`)).toMatchObject({
        version: 2,
        partial_default_config: { seed: 8 },
      });
      await expectGoodLooks(page, 'template');
    },
  );

  if (isLongRun) {
    it('A template picks streams from those that a customer’s source has, without asking a connector', async () => {
      await stage.connectionTemplate({ cron_expression: null });
      const made = await stage.sourceTemplate({ name: 'Made from it' });
      for (const workspace_name of ['Hooli', 'Pied Piper']) {
        const { token } = await stage.widgetToken({ workspace_name });
        const response = await fetch(`${stage.service.url}/api/v1/embedded/sources`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ source_template_id: made, name: 'Shop', source_config: { count: 31 } }),
        });
        expect(response.status).toBe(201);
        const { workspace_id } = (await response.json()) as { workspace_id: string };
        const path = `/integrations/connections?workspace_id=${workspace_id}&status=active`;
        await eventually('it is set up', async () => (await stage.operator('GET', path)).data.length > 0);
      }
      const id = await stage.sourceTemplate({ name: 'Picks streams' });
      const page = await openConsole(stage, `templates/${id}`, { permission: 'operator' });
      const asked: string[] = [];
      page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
      await page.getByLabel(form.streamMode).selectOption('whitelist');
      await page.getByRole('button', { name: form.customerStreams }).click();
      const dialog = page.getByRole('dialog', { name: form.customerStreams });
      await dialog.getByText('Hooli').waitFor();
      await expectGoodLooks(page, 'template-customer-streams');
      await dialog.getByLabel(words.customers.search).fill('piper');
      await expect.poll(() => dialog.getByText('Hooli').count()).toBe(0);
      await dialog.getByRole('button', { name: `${form.takeStreams}: Pied Piper`, exact: true }).click();
      await page.getByLabel('purchases', { exact: true }).check();
      const editor = page.getByLabel(templates.json).and(page.locator('textarea'));
      expect(JSON.parse(await editor.inputValue()).customization.stream_whitelist).toEqual(['purchases']);
      expect(asked.filter((request) => /connections\/[^/]+\/streams$/.test(request))).toHaveLength(1);
      // The preview of the draft is the only request that is not a question about what is there.
      const writes = asked.filter((request) => !request.startsWith('GET ') && !request.endsWith('/preview'));
      expect(writes).toEqual([]);
    });
  }

  it('lets a viewer read and nothing else', async () => {
    const id = await stage.sourceTemplate({ name: 'Only read' });
    const page = await openConsole(stage, `templates/${id}`, { permission: 'read' });
    await page.getByRole('heading', { level: 1, name: 'Only read' }).waitFor();
    expect(await page.getByLabel(templates.json).and(page.locator('textarea')).getAttribute('readonly')).not.toBeNull();
    expect(await page.getByLabel('Name', { exact: true }).isDisabled()).toBe(true);
    expect(await page.getByLabel(form.modeOf('Seed')).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: /Delete|Preview changes|Save|Restore/ }).count()).toBe(0);
  });
});

describe('Connectors', () => {
  itInLongRun('shows the catalogue with search and icons', async () => {
    const page = await openConsole(stage, 'connectors');
    await page.getByRole('link', { name: /Sample Data/ }).waitFor();
    // The bundled platform reports no support level, so there is no column for it.
    const headings = () => page.getByRole('columnheader').allInnerTexts();
    expect(await headings()).toEqual(['Name', 'Version', 'Origin']);
    await expectGoodLooks(page, 'connectors');
    await page.route('**/definitions/sources', async (route) => {
      const answer = await (await route.fetch()).json();
      answer.data[0].support_level = 'certified';
      await route.fulfill({ json: answer });
    });
    await page.reload();
    await page.getByRole('cell', { name: 'certified' }).waitFor();
    expect(await headings()).toEqual(['Name', 'Version', 'Support', 'Origin']);
    await page.getByRole('searchbox').fill('no such connector');
    await page.getByText(words.list.nothing).waitFor();
    await page.goto(`${stage.publicUrl}/console/connectors?type=destination`);
    await page.getByRole('link', { name: /Local Files/i }).waitFor();
    await page.goto(`${stage.publicUrl}/console/connectors/${sampleData}`);
    await page.getByRole('heading', { name: connectors.specification }).waitFor();
    expect(await page.locator('.c-code').innerText()).toContain('seed');
    await expectGoodLooks(page, 'connector');
  });

  it('adds a manifest from a file, shows which streams are supported, and takes a new version', async () => {
    const page = await openConsole(stage, 'connectors');
    await page.getByRole('button', { name: connectors.add, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Manifest', { exact: true }).fill('streams: nonsense');
    await dialog.getByRole('button', { name: connectors.add, exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    await expectGoodLooks(page, 'connector-add');
    stage.takeProblems();
    await dialog.getByLabel('Or choose a file').setInputFiles({
      name: 'books.yaml',
      mimeType: 'text/yaml',
      buffer: Buffer.from(manifest('Books', streamWithCode)),
    });
    await expect.poll(() => dialog.getByLabel('Manifest', { exact: true }).inputValue()).toContain('loans');
    await dialog.getByRole('button', { name: connectors.add, exact: true }).click();
    const streams = page.getByRole('table', { name: connectors.streams });
    await streams.waitFor();
    expect(await streams.getByRole('row').filter({ hasText: 'books' }).innerText()).toContain('Yes');
    expect(await streams.getByRole('row').filter({ hasText: 'loans' }).innerText()).toMatch(
      /\bNo\b[\s\S]*CustomAuthenticator/,
    );
    await expectGoodLooks(page, 'connector-own');
    await page.getByRole('button', { name: 'New version', exact: true }).click();
    await dialog.getByLabel('Manifest', { exact: true }).fill(manifest('Books'));
    await dialog.getByRole('button', { name: 'New version', exact: true }).click();
    await expect.poll(() => streams.innerText()).not.toContain('loans');
    await page.getByRole('button', { name: connectors.delete, exact: true }).click();
    await dialog.getByRole('button', { name: connectors.delete, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Connectors' }).waitFor();
    expect(await page.getByRole('link', { name: /Books/ }).count()).toBe(0);
  });

  itInLongRun('shows the versions of a manifest, opens one to read, and uses one again', async () => {
    const needsRegion = manifest('Shelves', streamWithCode)
      .replace('path: /books', 'path: /books, request_headers: { X-Api-Key: a-literal-key }')
      .replace('properties: {} }', 'required: [region], properties: { region: { type: string } } }');
    const { id } = await stage.operator('POST', '/integrations/definitions/sources', { manifest: needsRegion });
    const path = `/integrations/definitions/sources/${id}`;
    await stage.operator('PUT', path, { manifest: manifest('Shelves') });
    const source_template_id = await stage.sourceTemplate({ actor_definition_id: id, partial_default_config: {} });
    const { token } = await stage.operator('POST', '/embedded/scoped-token', { workspace_name: 'reads shelves' });
    const made = await fetch(`${stage.service.url}/api/v1/embedded/sources`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ source_template_id, name: hostile, source_config: {}, skip_check: true }),
    });
    expect(made.status).toBe(201);

    const page = await openConsole(stage, `connectors/${id}`);
    const dialog = page.getByRole('dialog');
    const versions = page.getByRole('table', { name: 'Versions' });
    const row = (number: number) => versions.getByRole('row').nth(number);
    await expect.poll(() => row(1).innerText()).toMatch(/2 · current[\s\S]*loans\s*removed[\s\S]*1 supported/);
    expect(await row(2).innerText()).toMatch(/No earlier version[\s\S]*1 supported, 1 unsupported/);
    await expectGoodLooks(page, 'connector-versions');
    await page.getByRole('button', { name: connectors.versions.showOf(1), exact: true }).click();
    await dialog.getByRole('table', { name: connectors.streams }).waitFor();
    const shown = await dialog.innerText();
    expect(shown).toContain('CustomAuthenticator');
    expect(shown).toContain('"X-Api-Key": "**********"');
    await expectGoodLooks(page, 'connector-version');
    await dialog.getByRole('button', { name: versionWords.restore, exact: true }).click();
    await dialog.getByRole('heading', { name: versionWords.restoreOf(1) }).waitFor();
    await dialog.getByRole('button', { name: `${words.copy.curl}: ${versionWords.restore}` }).waitFor();
    await expectGoodLooks(page, 'connector-version-again');
    await dialog.getByRole('button', { name: versionWords.restore, exact: true }).click();
    const staying = page.getByRole('table', { name: connectors.staying.title });
    await expect.poll(() => staying.innerText()).toContain('region: field required');
    expect(await staying.getByRole('link', { name: hostile }).count()).toBe(1);
    await expect
      .poll(() => row(1).innerText())
      .toMatch(/3 · current · restored from version 1[\s\S]*loans\s*added, unsupported/);
    await expect.poll(() => page.getByRole('table', { name: connectors.streams }).innerText()).toContain('loans');
    await expectGoodLooks(page, 'connector-rolled-back');

    const viewer = await openConsole(stage, `connectors/${id}`, { permission: 'read' });
    await viewer.getByRole('button', { name: connectors.versions.showOf(1), exact: true }).waitFor();
    expect(await viewer.getByRole('button', { name: /Restore|New version/i }).count()).toBe(0);
  });
});

describeInLongRun('The playground', () => {
  itInLongRun('writes the code for the chosen settings, and shows what a customer would be offered', async () => {
    await stage.sourceTemplate({ name: 'Tagged', tags: ['gold'] });
    await stage.sourceTemplate({ name: 'Untagged' });
    const page = await openConsole(stage, 'playground');
    await page.getByLabel(playground.tags).fill('gold');
    await page.getByLabel('Language', { exact: true }).selectOption('de');
    await page.getByLabel(playground.color).fill('#0f766e');
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await expect.poll(() => row('Untagged').innerText()).toContain('No');
    await expect.poll(() => row('Tagged').innerText()).toContain('Yes');
    const code = page.locator('.c-code').first();
    for (const language of ['curl', 'node', 'python']) {
      await page.getByLabel(playground.languageOfCode).selectOption(language);
      await expect.poll(() => code.innerText()).toMatch(/widget-token[\s\S]*#0f766e|#0f766e[\s\S]*widget-token/);
      expect(await code.innerText()).toContain('gold');
      expect(await code.innerText()).toContain('INLAY_OPERATOR_TOKEN');
    }
    expect(await page.locator('.c-code').last().innerText()).toContain(`${stage.publicUrl}/embed.js`);
    await expectGoodLooks(page, 'playground');
  });
});
