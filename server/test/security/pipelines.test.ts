/**
 * What customers' tokens can reach: only their own workspace, and there only what they are offered, whatever a request
 * says.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';
import {
  type Customer,
  customer,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
  postgresSource,
} from '../support/pipelines.ts';
import {
  addTenant,
  essence,
  fill,
  makePipeline,
  makeTemplates,
  routesWith,
  unknownId,
  widgetToken,
} from './support.ts';

describeOnOneDatabase('A scoped token', (kind) => {
  let test: TestApp;
  let ids: Record<string, string>;
  let owner: Customer;
  let neighbor: Customer;
  let stranger: string;

  beforeAll(async () => {
    test = await startTestApp(kind);
    [owner, neighbor] = [await customer(test, 'owner'), await customer(test, 'neighbor')];
    const templates = await makeTemplates(test);
    const pipeline = await makePipeline(test, owner.workspaceId, templates.source_template_id as string);
    ids = { ...templates, ...pipeline };
    const tenant = await addTenant(test, 'elsewhere');
    const answer = await tenant.request('POST', '/api/v1/embedded/scoped-token', { body: { workspace_name: 'owner' } });
    stranger = answer.body.token;
  });
  afterAll(() => test.stop());

  const aboutOne = () =>
    routesWith(test, 'scoped').filter(({ url }) => /:(source|connection|check)_id/.test(url) && url !== '/');
  const body = { name: 'stolen', source_config: { count: 2 } };
  const given = (method: string) => (method === 'POST' || method === 'PUT' ? { body } : {});

  it('gets 403 for everything of another workspace, on every route, and changes nothing', async () => {
    expect(aboutOne().length).toBeGreaterThanOrEqual(7);
    for (const { method, url } of aboutOne()) {
      const answer = await test.request(method, fill(url, ids), { token: neighbor.token, ...given(method) });
      expect([answer.status, answer.text], `${method} ${url}`).toEqual([
        403,
        method === 'HEAD' ? '' : '{"detail":"Access denied to this resource"}',
      ]);
    }
    expect((await owner.request('GET', `/sources/${ids.source_id}`)).body).toMatchObject({
      name: 'Sample Data',
      source_config: { count: 1 },
    });
  });

  it('of another organization gets, to the byte, what it gets for something that does not exist', async () => {
    for (const { method, url } of aboutOne()) {
      const ask = (values: Record<string, string>) =>
        test.request(method, fill(url, values), { token: stranger, ...given(method) });
      const answers = [await ask(ids), await ask({})] as const;
      expect(answers[0].status, `${method} ${url}`).toBe(404);
      expect(essence(answers[0])).toEqual(essence(answers[1]));
    }
    const stolen = await test.request('POST', '/api/v1/embedded/sources', {
      token: stranger,
      body: { source_template_id: ids.source_template_id, source_config: { count: 1 } },
    });
    expect(stolen).toMatchObject({ status: 404, body: { detail: 'Source template not found' } });
  });

  it('acts in its own workspace, whatever body and query name', async () => {
    const claim = {
      workspace_id: owner.workspaceId,
      workspaceId: owner.workspaceId,
      organization_id: unknownId,
      id: ids.source_id,
    };
    const query = `workspace_id=${owner.workspaceId}&workspaceIds=${owner.workspaceId}`;
    const created = await neighbor.request('POST', `/sources?${query}`, {
      source_template_id: ids.source_template_id,
      name: 'mine',
      source_config: { count: 1 },
      ...claim,
    });
    expect(created).toMatchObject({ status: 201, body: { workspace_id: neighbor.workspaceId } });
    expect(created.body.id).not.toBe(ids.source_id);
    const listed = (await neighbor.request('GET', `/sources?${query}`)).body.data;
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([created.body.id]);
    const updated = await neighbor.request('PUT', `/sources/${created.body.id}?${query}`, { name: 'ours', ...claim });
    expect(updated.body).toMatchObject({ id: created.body.id, name: 'ours', workspace_id: neighbor.workspaceId });
    const connections = (await neighbor.request('GET', `/connections?${query}`)).body.data;
    for (const { source_id } of connections) expect(source_id).toBe(created.body.id);
  });

  it('is offered what its signed filters say, and no body or query widens them', async () => {
    const free = await makeSourceTemplate(test, { name: 'Free', tags: ['free'] });
    const pro = await makeSourceTemplate(test, { name: 'Pro', tags: ['pro'] });
    await makeConnectionTemplate(test, { destination_name: 'For free', tags: ['free'] });
    await makeConnectionTemplate(test, { destination_name: 'For pro', tags: ['pro'] });
    const { inner } = await widgetToken(test, {
      workspace_name: 'filtered',
      selected_source_template_tags: ['free'],
      selected_connection_template_tags: ['free'],
    });
    const ask = (method: string, path: string, more?: object) =>
      test.request(method, `/api/v1/embedded${path}`, {
        token: inner,
        headers: { origin: 'https://app.example' },
        ...(more ? { body: more } : {}),
      });
    const wider = 'tags=pro&tags_mode=any&selected_source_template_tags=pro&selected_source_template_tags_mode=any';
    for (const query of ['', `?${wider}`]) {
      const { body: offers } = await ask('GET', `/source-templates${query}`);
      const names = JSON.stringify(offers);
      expect(names, query).not.toContain('Pro');
      if (query === '') expect(names).toContain('Free');
    }
    const claim = {
      selected_source_template_tags: ['pro'],
      template_filters: { selected_source_template_tags: ['pro'] },
      source_config: { count: 1 },
    };
    for (const path of ['/sources', '/sources/check', `/sources?${wider}`]) {
      const hidden = await ask('POST', path, { source_template_id: pro, ...claim });
      const unknown = await ask('POST', path, { source_template_id: unknownId, ...claim });
      expect([hidden.status, hidden.text]).toEqual([404, unknown.text]);
    }
    const created = await ask('POST', '/sources', {
      source_template_id: free,
      ...claim,
      selected_connection_template_tags: ['pro', 'free'],
      selected_connection_template_tags_mode: 'any',
    });
    expect(created.status, created.text).toBe(201);
    const { data } = (await ask('GET', '/connections')).body;
    expect(data.map((one: { destination_name: string }) => one.destination_name)).toEqual(['For free']);
  });
});

describe('A configuration', () => {
  let test: TestApp;
  let acme: Customer;
  let template: string;
  beforeAll(async () => {
    test = await startTestApp('sqlite');
    acme = await customer(test, 'acme');
    template = await makeSourceTemplate(test, { actor_definition_id: postgresSource, partial_default_config: {} });
  });
  afterAll(() => test.stop());

  const paths = ['/sources', '/sources/check'];
  const send = (path: string, payload: string) =>
    test.request('POST', `/api/v1/embedded${path}`, { token: acme.token, payload });
  const around = (config: string) => `{"source_template_id":"${template}","source_config":${config}}`;

  it('with keys that reach for prototypes, or too deep, is refused, and nothing is polluted', async () => {
    const hostile = [
      '{"__proto__":{"host":"db.example"}}',
      '{"host":"h","constructor":{"prototype":{"polluted":true}}}',
      '{"a":{"b":{"__proto__":{"polluted":true}}}}',
      `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      `{"host":${'[{"a":'.repeat(60)}1${'}]'.repeat(60)}}`,
    ];
    for (const path of paths) {
      for (const config of hostile) {
        const answer = await send(path, around(config));
        expect([answer.status, Array.isArray(answer.body.detail)], config.slice(0, 40)).toEqual([422, true]);
      }
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect((await acme.request('GET', '/sources')).body).toEqual({ data: [] });
  });

  it('with names that every JavaScript object has is kept unchanged', async () => {
    const config = {
      host: 'db.example',
      database: 'd',
      username: 'u',
      password: 'p',
      toString: 'x',
      hasOwnProperty: { valueOf: 1 },
      constructor: 'y',
    };
    const created = await send('/sources', around(JSON.stringify(config)));
    expect(created.status, created.text).toBe(201);
    expect(created.body.source_config).toEqual({ ...config, password: '**********' });
    expect((await acme.request('DELETE', `/sources/${created.body.id}`)).status).toBe(200);
  });

  const valid = { host: 'db.example', database: 'd', username: 'u', password: 'p' };

  it('with as many members as a body can hold is answered, whatever they are', async () => {
    const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`k${index}`, index]));
    const answer = await send('/sources/check', around(JSON.stringify(many)));
    expect(answer.status).toBe(422);
    expect(answer.text.length, 'faults are not a way to blow an answer up').toBeLessThan(100_000);
    const long = Array.from({ length: 100_000 }, (_, index) => index % 10);
    const lists = Array.from({ length: 50 }, () => long.slice(0, 4_000));
    for (const schemas of [long, lists, long.slice(0, 4_000)]) {
      const faulty = await send('/sources/check', around(JSON.stringify({ ...valid, schemas })));
      expect(faulty.status).toBe(422);
      expect(faulty.body.detail.length).toBeLessThanOrEqual(100);
    }
  });

  it('cannot get the secrets of another one by sending its mask', async () => {
    const own = { host: 'db.example', database: 'd', username: 'u', password: 'the-owners-password' };
    const { body } = await acme.request('POST', '/sources', { source_template_id: template, source_config: own });
    const other = await customer(test, 'other');
    const masked = { ...own, password: '**********', host: 'attacker.example' };
    const stolen = await other.request('POST', '/sources', { source_template_id: template, source_config: masked });
    // A mask without a stored secret counts as left out.
    const { password: _password, ...rest } = masked;
    expect(stolen.body.source_config).toEqual(rest);
    await other.settled(stolen.body.id);
    expect((await onPlatform(test, other.workspaceId)).sources).toMatchObject([{ configuration: rest }]);
    expect((await acme.request('DELETE', `/sources/${body.id}`)).status).toBe(200);
  });
});
