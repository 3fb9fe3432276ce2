/** A workspace is compared with the templates that match it now, on both databases. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { customer, makeConnectionTemplate, makeSourceTemplate, onPlatform } from '../../../test/support/pipelines.ts';

describeOnBothDatabases('Templates applied to a workspace', (kind) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp(kind);
  });
  afterAll(() => test.stop());

  it('make the connections that match and are missing, once, and name those that no longer match', async () => {
    const template = await makeSourceTemplate(test, { tags: ['shops'] });
    const silver = await makeConnectionTemplate(test, { destination_name: 'Silver', tags: ['silver'] });
    const acme = await customer(test, 'acme');
    const id = await acme.connect(template, { selected_connection_template_tags: ['silver'] });
    await acme.settled(id);
    const gold = await makeConnectionTemplate(test, { destination_name: 'Gold', tags: ['gold'] });
    const apply = async (body: object) => {
      const path = `/api/v1/workspaces/${acme.workspaceId}/templates/apply`;
      const answer = await test.request('POST', path, {
        body: { selected_connection_template_tags: ['gold'], ...body },
      });
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    };
    const names = { source_id: id, source_name: 'Shop' };
    const missing = [{ ...names, connection_template_id: gold, destination_name: 'Gold' }];
    const unmatched = {
      ...names,
      connection_id: expect.any(String),
      connection_template_id: silver,
      destination_name: 'Silver',
    };
    const rest = { no_longer_matching: [unmatched], matching: 0 };
    const count = async () => (await onPlatform(test, acme.workspaceId)).connections.length;

    expect(await apply({ plan: true })).toEqual({ plan: true, missing, ...rest });
    await acme.settled(id);
    expect(await count(), 'a plan makes nothing').toBe(1);

    const answers = await Promise.all([apply({}), apply({})]);
    expect(
      answers.flatMap((answer) => answer.missing),
      'asked twice at the same moment, made once',
    ).toEqual(missing);
    await acme.settled(id);
    expect(await count()).toBe(2);
    expect(await apply({})).toEqual({ plan: false, missing: [], ...rest, matching: 1 });

    // The plan says what would end, and only without `plan` does it end.
    const statuses = async () =>
      (await onPlatform(test, acme.workspaceId)).connections.map((one: { status: string }) => one.status).sort();
    await apply({ plan: true, no_longer_matching: 'delete' });
    await acme.settled(id);
    expect(await statuses()).toEqual(['active', 'active']);
    await apply({ no_longer_matching: 'pause' });
    await acme.settled(id);
    expect(await statuses()).toEqual(['active', 'inactive']);
    await apply({ no_longer_matching: 'delete' });
    await acme.settled(id);
    expect(await statuses()).toEqual(['active']);
    // Back on the old plan as well: a deleted connection is recreated.
    const back = await apply({ selected_connection_template_tags: ['gold', 'silver'] });
    expect(back).toMatchObject({ missing: [{ connection_template_id: silver }], no_longer_matching: [], matching: 1 });
    await acme.settled(id);
    expect(await statuses()).toEqual(['active', 'active']);

    // Another plan has other sources: nothing of this one matches, and nothing is made for it.
    const elsewhere = await apply({ selected_source_template_tags: ['crm'] });
    expect(elsewhere).toMatchObject({ missing: [], matching: 0 });
    expect(elsewhere.no_longer_matching).toHaveLength(2);
    expect(await apply({ selected_source_template_tags: ['shops', 'crm'] })).toMatchObject({ matching: 1 });

    // An empty selection means every template, as everywhere.
    expect(await apply({ selected_connection_template_tags: [] })).toMatchObject({ matching: 2 });
  });
});
