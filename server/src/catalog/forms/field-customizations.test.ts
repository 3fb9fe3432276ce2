/** Fields that customers are not asked for, and fields that start with a value. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { customer, makeSourceTemplate } from '../../../test/support/pipelines.ts';
import { customizedSpec, fieldCustomizationFaults, withoutHidden } from './field-customizations.ts';

const specification = {
  connectionSpecification: {
    type: 'object',
    required: ['host'],
    properties: {
      host: { type: 'string' },
      port: { type: 'integer' },
      key: { type: 'string', airbyte_secret: true },
      login: {
        type: 'object',
        oneOf: [
          {
            required: ['name'],
            properties: { kind: { const: 'a' }, name: { type: 'string' }, hint: { type: 'string' } },
          },
          { properties: { kind: { const: 'b' }, hint: { type: 'string' } } },
        ],
      },
    },
  },
};

describe('A specification', () => {
  it('lacks what is hidden, in every form, and has the values that fields start with', () => {
    const { connectionSpecification } = customizedSpec(specification, [
      { path: ['port'], hidden: true },
      { path: ['login', 'hint'], hidden: true },
      { path: ['host'], default: 'db.example.com' },
    ]);
    expect(connectionSpecification).toEqual({
      type: 'object',
      required: ['host'],
      properties: {
        host: { type: 'string', default: 'db.example.com' },
        key: { type: 'string', airbyte_secret: true },
        login: {
          type: 'object',
          oneOf: [
            { required: ['name'], properties: { kind: { const: 'a' }, name: { type: 'string' } } },
            { properties: { kind: { const: 'b' } } },
          ],
        },
      },
    });
    expect(customizedSpec(specification)).toEqual(specification);
  });

  it('says which customizations do not fit it', () => {
    const faults = fieldCustomizationFaults(specification, [
      { path: ['host'], hidden: true },
      { path: ['login', 'name'], hidden: true },
      { path: ['nowhere'], hidden: true },
      { path: ['key'], default: 'secret' },
      { path: ['port'], default: 'many' },
      { path: ['port'], default: 5432 },
      { path: ['login', 'hint'], hidden: true },
    ]);
    expect(faults.map(({ loc }) => loc.slice(3).join('.'))).toEqual([
      '0.path',
      '1.path',
      '2.path',
      '3.path',
      '4.default.port',
    ]);
  });

  it('keeps what a hidden field had before, and takes nothing else for it', () => {
    const fields = [
      { path: ['port'], hidden: true },
      { path: ['login', 'hint'], hidden: true },
    ];
    const given = { host: 'h', port: 1, login: { kind: 'b', hint: 'mine' } };
    expect(withoutHidden(given, {}, fields)).toEqual({ host: 'h', login: { kind: 'b' } });
    expect(withoutHidden({ host: 'h' }, {}, fields)).toEqual({ host: 'h' });
    expect(withoutHidden(given, { port: 7 }, fields)).toEqual({ host: 'h', port: 7, login: { kind: 'b' } });
    expect(withoutHidden(given, {})).toBe(given);
  });
});

describe('A customer of such a template', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp('sqlite');
  });
  afterAll(() => test.stop());

  it('has to enter what is left, and cannot set what is hidden', async () => {
    const field_customizations = [
      { path: ['records_per_second'], hidden: true },
      { path: ['count'], default: 25 },
    ];
    const id = await makeSourceTemplate(test, { customization: { field_customizations } });
    const shown = (await test.request('GET', `/api/v1/integrations/templates/sources/${id}`)).body;
    expect(shown.customization).toMatchObject({ stream_selection_mode: 'suggested', field_customizations });
    const acme = await customer(test, 'acme');
    const offered = (await acme.request('GET', `/source-templates/${id}`)).body;
    expect(offered.user_config_spec.connectionSpecification.properties).toEqual({
      count: expect.objectContaining({ default: 25 }),
    });
    const body = { source_template_id: id, source_config: { count: 3, records_per_second: 9 } };
    const made = await acme.request('POST', '/sources', body);
    expect(made.status, made.text).toBe(201);
    const source = (await acme.request('GET', `/sources/${made.body.id}`)).body;
    expect(source.source_config).toEqual({ count: 3 });
  });

  it('reports to the operator what does not fit', async () => {
    const body = { customization: { field_customizations: [{ path: ['count'], hidden: true }] } };
    const id = await makeSourceTemplate(test);
    const answer = await test.request('PATCH', `/api/v1/integrations/templates/sources/${id}`, { body });
    expect([answer.status, answer.body.detail[0].loc]).toEqual([
      422,
      ['body', 'customization', 'field_customizations', '0', 'path'],
    ]);
  });
});
