/** What a scoped token is offered, and how operators find out why, on both databases. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant, makeTemplates, widgetToken } from '../../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { sampleData } from '../../../test/support/pipelines.ts';

const path = '/api/v1/embedded/source-templates';
const explainPath = '/api/v1/integrations/templates/explain';
const unknownId = '00000000-0000-4000-8000-000000000000';
const notFound = [404, { detail: 'Source template not found' }];

describeOnBothDatabases('A scoped token', (kind) => {
  let test: TestApp;
  let scoped: string;
  /** Long enough to be in no random id. */
  const seed = 1_471_104_711;
  /** By name, which says the tags. */
  const ids: Record<string, string> = {};
  const tagged: Record<string, string[]> = { none: [], crm: ['crm'], eu: ['eu'], both: ['crm', 'eu'] };

  beforeAll(async () => {
    test = await startTestApp(kind);
    const made = await makeTemplates(test);
    await test.request('DELETE', `/api/v1/integrations/templates/sources/${made.source_template_id}`);
    for (const [name, tags] of Object.entries(tagged)) {
      const partial_default_config = { seed };
      const body = { name, actor_definition_id: sampleData, partial_default_config, tags };
      ids[name] = (await test.request('POST', '/api/v1/integrations/templates/sources', { body })).body.id;
    }
    scoped = await test.scopedToken('acme');
  });
  afterAll(() => test.stop());

  const offered = async (token: string, query = '') => {
    const { status, body } = await test.request('GET', path + query, { token });
    expect(status).toBe(200);
    return body.data.map(({ name }: { name: string }) => name);
  };
  const widget = async (tags: string[], mode?: string) =>
    (
      await widgetToken(test, {
        selected_source_template_tags: tags,
        ...(mode ? { selected_source_template_tags_mode: mode } : {}),
      })
    ).inner;
  const get = async (token: string, id = '') => {
    const { status, body } = await test.request('GET', `${path}/${id}`, { token });
    return [status, body];
  };

  it('without filters is offered every template', async () => {
    expect(await offered(scoped)).toEqual(['none', 'crm', 'eu', 'both']);
    expect(await offered(await widget([]))).toEqual(['none', 'crm', 'eu', 'both']);
  });

  it('with filters is offered what its signed tags select', async () => {
    expect(await offered(await widget(['crm', 'eu']))).toEqual(['crm', 'eu', 'both']);
    expect(await offered(await widget(['crm', 'eu'], 'all'))).toEqual(['both']);
    expect(await offered(await widget(['unknown']))).toEqual([]);
  });

  it('can narrow that down with a query, but never widen it', async () => {
    const token = await widget(['crm']);
    expect(await offered(token, '?tags=eu')).toEqual(['both']);
    expect(await offered(token, '?tags=eu&tags=crm&tags_mode=any')).toEqual(['crm', 'both']);
    expect(await offered(token, '?tags=unknown')).toEqual([]);
    expect(await offered(token, '?selected_source_template_tags=eu&tags_mode=any')).toEqual(['crm', 'both']);
    expect(await offered(scoped, '?tags=eu')).toEqual(['eu', 'both']);
  });

  it('sees of a template what to ask for, and nothing that the operator gave', async () => {
    const [status, body] = await get(scoped, ids.both);
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual([
      'category',
      'description',
      'icon',
      'id',
      'name',
      'oauth',
      'tags',
      'user_config_spec',
    ]);
    expect(body).toMatchObject({
      id: ids.both,
      name: 'both',
      description: null,
      icon: expect.stringMatching(/^http:\/\/localhost:8080\/icons\//),
      tags: ['crm', 'eu'],
    });
    const { properties, required } = body.user_config_spec.connectionSpecification;
    expect([Object.keys(properties), required]).toEqual([['count', 'records_per_second'], ['count']]);
    expect(JSON.stringify(body)).not.toContain(String(seed));
    const { text } = await test.request('GET', path, { token: scoped });
    expect(text).not.toContain(String(seed));
  });

  it('sees of a template what operators preview before it is saved', async () => {
    const path = '/api/v1/integrations/templates/sources/preview';
    const shown = await test.request('POST', path, { body: { original_source_template_id: ids.both } });
    expect([200, { ...shown.body, id: ids.both }]).toEqual(await get(scoped, ids.both));
    const draft = {
      actor_definition_id: sampleData,
      name: 'draft',
      partial_default_config: { seed },
      tags: ['eu'],
    };
    const { body } = await test.request('POST', path, { body: draft });
    expect(body).toMatchObject({ name: 'draft', tags: ['eu'] });
    expect(JSON.stringify(body)).not.toContain(String(seed));
    expect(await offered(scoped)).not.toContain('draft');
  });

  it('does not find a template that it is not offered, nor one of another organization', async () => {
    const token = await widget(['crm']);
    expect((await get(token, ids.crm))[0]).toBe(200);
    const other = await makeTemplates(await addTenant(test, 'other'));
    for (const id of [ids.eu, unknownId, other.source_template_id]) expect(await get(token, id)).toEqual(notFound);
    expect(await get(scoped, other.source_template_id)).toEqual(notFound);
    expect(await offered(scoped)).toHaveLength(4);
  });

  it('sees exactly what the explanation of filters says', async () => {
    for (const tags of [[], ['crm'], ['crm', 'eu'], ['unknown', 'eu']]) {
      for (const mode of ['any', 'all']) {
        const body = { selected_source_template_tags: tags, selected_source_template_tags_mode: mode };
        const explained = (await test.request('POST', explainPath, { body })).body.source_templates;
        const shown = explained.filter((template: { shown: boolean }) => template.shown);
        expect(shown.map(({ name }: { name: string }) => name)).toEqual(await offered(await widget(tags, mode)));
      }
    }
  });

  it('is explained with a rule for every template of both kinds', async () => {
    const body = {
      selected_source_template_tags: ['crm', 'eu'],
      selected_source_template_tags_mode: 'all',
      selected_connection_template_tags: ['crm'],
    };
    const { status, body: explained } = await test.request('POST', explainPath, { body });
    expect(status).toBe(200);
    expect(explained.source_templates).toEqual([
      {
        id: ids.none,
        name: 'none',
        shown: false,
        rule: expect.stringMatching(/^Hidden: .* 2 of 2 .*mode all/),
        matching_tags: [],
        missing_tags: ['crm', 'eu'],
      },
      expect.objectContaining({ name: 'crm', shown: false, matching_tags: ['crm'], missing_tags: ['eu'] }),
      expect.objectContaining({ name: 'eu', shown: false, matching_tags: ['eu'], missing_tags: ['crm'] }),
      {
        id: ids.both,
        name: 'both',
        shown: true,
        rule: expect.stringMatching(/^Shown: .*mode all/),
        matching_tags: ['crm', 'eu'],
        missing_tags: [],
      },
    ]);
    expect(explained.connection_templates).toEqual([
      {
        id: expect.any(String),
        name: 'walked',
        shown: false,
        rule: expect.stringMatching(/^Hidden: .* none .*mode any/),
        matching_tags: [],
        missing_tags: ['crm'],
      },
    ]);
  });

  it('and the explanation refuse the same filters', async () => {
    const faultsOf = async (url: string, filters: object) => {
      const body = { workspace_name: 'acme', allowed_origin: 'https://app.example', ...filters };
      const answer = await test.request('POST', url, { body });
      return [answer.status, answer.body];
    };
    const widgetPath = '/api/v1/embedded/widget-token';
    for (const filters of [
      { selected_source_template_tags: [''] },
      { selected_connection_template_tags_mode: 'some' },
      { selected_source_template_tags: Array(101).fill('x') },
      { selected_source_template_tags: Array.from({ length: 20 }, (_, i) => `${i}`.padEnd(255, 'x')) },
    ]) {
      const refused = await faultsOf(explainPath, filters);
      expect(refused[0]).toBe(422);
      expect(refused).toEqual(await faultsOf(widgetPath, filters));
    }
  });
});
