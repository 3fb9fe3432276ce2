/** Where the data of a workspace goes, and that it never meets the data of another one. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { customer, makeConnectionTemplate, makeSourceTemplate } from '../../../test/support/pipelines.ts';

describeOnBothDatabases('The tables of workspaces', (kind) => {
  let test: TestApp;
  beforeEach(async () => {
    test = await startTestApp(kind);
  });
  afterEach(() => test.stop());

  it('that a template of an earlier release would mix are those of the workspace that came first', async () => {
    const template = await makeConnectionTemplate(test, {
      destination_definition_id: '3b82f6d1-0c47-4e9a-a5d8-6e19c2b7f043',
      destination_config: {
        host: 'db.example',
        database: 'd',
        username: 'u',
        password: 'p',
        ssl_mode: { mode: 'disable' },
      },
    });
    await test.app.store.db
      .updateTable('connection_templates')
      .set({ namespace_format: 'shared', prefix: '{workspace_name}_' })
      .where('id', '=', template)
      .execute();
    const sample = await makeSourceTemplate(test);
    const [first, second, third] = [
      await customer(test, 'acme_corp'),
      await customer(test, 'acme'),
      await customer(test, 'globex'),
    ];
    expect(await first.settled(await first.connect(sample))).toMatchObject({ status: 'ready' });
    expect(await second.settled(await second.connect(sample))).toMatchObject({
      status: 'failed',
      status_reason: { code: 'problem_on_our_side', parameters: {} },
    });
    expect(await third.settled(await third.connect(sample))).toMatchObject({ status: 'ready' });
  });

  it('need no id where the destination has a folder for each workspace', async () => {
    await makeConnectionTemplate(test, { namespace_format: 'shared', prefix: '{workspace_name}_' });
    const sample = await makeSourceTemplate(test);
    for (const name of ['acme_corp', 'acme']) {
      const owner = await customer(test, name);
      expect(await owner.settled(await owner.connect(sample))).toMatchObject({ status: 'ready' });
    }
  });
});
