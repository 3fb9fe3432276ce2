/** Form and JSON are two views of one draft: each shows the other's changes, and nothing else changes. */
import { readSpecification } from '@inlay/ui/form/fields.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLongRun } from '../../../../scripts/long-run.ts';
import {
  everyConvention,
  githubLike,
  postgresLike,
  sheetsLike,
  stripeLike,
} from '../../../../widget/test/specifications.ts';
import {
  changed,
  configField,
  customizationAt,
  type Draft,
  modeOf,
  modes,
  textOf,
  valueAt,
  withBranch,
  withCustomization,
  withMode,
} from './draft.ts';
import { askedFields } from './template-preview.tsx';
import { changedByForm, readText } from './use-draft.ts';

const specifications = [everyConvention, githubLike, postgresLike, sheetsLike, stripeLike].map(readSpecification);
const specification = {
  type: 'object',
  required: ['host', 'login'],
  properties: {
    host: { type: 'string', title: 'Host' },
    port: { type: 'integer', title: 'Port', default: 5432 },
    tls: { type: 'object', title: 'TLS', properties: { mode: { type: 'string' }, ca: { type: 'string' } } },
    login: {
      title: 'Login',
      oneOf: [
        {
          title: 'Password',
          required: ['password'],
          properties: { kind: { const: 'password' }, password: { type: 'string', airbyte_secret: true } },
        },
        { title: 'Key', required: ['key'], properties: { kind: { const: 'key' }, key: { type: 'string' } } },
      ],
    },
  },
};
const root = readSpecification(specification);
const fieldOf = (key: string) => {
  const field = root.fields.find((one) => one.key === key);
  if (!field) throw new Error(key);
  return field;
};
const empty: Draft = { name: 'Shop', partial_default_config: {}, tags: [] };

describe('A field of a template', () => {
  it('is fixed by a value, and asked for without one', () => {
    const fixed = withMode(empty, fieldOf('port'), ['port'], 'fixed');
    expect(fixed.partial_default_config).toEqual({ port: 5432 });
    expect(modeOf(fixed, ['port'])).toBe('fixed');
    expect(withMode(fixed, fieldOf('port'), ['port'], 'asked')).toEqual(empty);
  });

  it('is hidden by an entry of its own, which goes when the field is requested again', () => {
    const hidden = withMode(empty, fieldOf('port'), ['port'], 'hidden');
    expect(hidden.customization).toEqual({ field_customizations: [{ path: ['port'], hidden: true }] });
    expect(modeOf(hidden, ['port'])).toBe('hidden');
    expect(withMode(hidden, fieldOf('port'), ['port'], 'asked')).toEqual({ ...empty, customization: {} });
  });

  it('may have a value to start with, which goes when the operator fixes or hides it', () => {
    const proposed = withCustomization(empty, ['host'], { default: 'db.example.com' });
    expect(customizationAt(proposed, ['host'])?.default).toBe('db.example.com');
    expect(modeOf(proposed, ['host'])).toBe('asked');
    for (const mode of ['fixed', 'hidden'] as const) {
      expect(customizationAt(withMode(proposed, fieldOf('host'), ['host'], mode), ['host'])?.default).toBe(undefined);
    }
  });

  it('inside an object leaves no empty object behind, which would ask for every field', () => {
    const mode = { ...fieldOf('host'), key: 'mode' };
    const fixed = withMode(empty, mode, ['tls', 'mode'], 'fixed');
    expect(fixed.partial_default_config).toEqual({ tls: { mode: '' } });
    expect(withMode(fixed, mode, ['tls', 'mode'], 'asked')).toEqual(empty);
  });

  it('with several forms is fixed to one of them, and keeps what nobody here knows', () => {
    const login = fieldOf('login');
    if (login.kind !== 'choice') throw new Error(login.kind);
    const [password, key] = login.branches;
    const first = withBranch(empty, ['login'], undefined, password);
    expect(first.partial_default_config).toEqual({ login: { kind: 'password' } });
    const given = changed(changed(first, [configField, 'login', 'password'], 's'), [configField, 'login', 'other'], 1);
    expect(withBranch(given, ['login'], password, key).partial_default_config).toEqual({
      login: { kind: 'key', other: 1 },
    });
    expect(withBranch(first, ['login'], password, undefined)).toEqual(empty);
    expect(askedFields(root, first, []).map(({ path }) => path.join('.'))).toEqual([
      'host',
      'login.password',
      'port',
      'tls.ca',
      'tls.mode',
    ]);
  });
});

describe('The text of a draft', () => {
  it('that is broken leaves the draft as it was, and can be taken back', () => {
    const broken = readText(empty, '{ "name": ');
    expect(broken).toEqual({ draft: empty, text: '{ "name": ', trouble: 'json' });
    expect(readText(empty, '[]').trouble).toBe('object');
    expect(changedByForm(broken.draft)).toEqual({
      draft: empty,
      text: textOf(empty),
      trouble: undefined,
    });
  });

  // As text gives it: JSON has no negative zero.
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)));
  const members = fc.dictionary(fc.string({ maxLength: 8 }), json, { maxKeys: 4 });
  /** A template with members that the form knows, and with others, also inside. */
  const drafts = fc
    .record({ known: members, config: members, customization: members, others: members })
    .map(({ known, config, customization, others }): Draft => {
      return { ...others, ...known, name: 'Shop', [configField]: config, customization };
    });

  it('says the same as the form, whatever the form does, and the form changes nothing else', () => {
    fc.assert(
      fc.property(
        drafts,
        fc.constantFrom(...specifications),
        fc.array(fc.record({ at: fc.nat(), mode: fc.constantFrom(...modes) }), { maxLength: 6 }),
        (start, form, steps) => {
          let draft = start;
          const touched = new Set<string>();
          for (const { at, mode } of steps) {
            const fields = form.fields.filter(({ isShown, kind }) => isShown && kind !== 'object');
            const field = fields[at % fields.length];
            if (!field) continue;
            touched.add(field.key);
            const next = withMode(draft, field, [field.key], mode);
            // The mode is what was chosen, and choosing it again changes nothing.
            expect(modeOf(next, [field.key])).toBe(mode);
            expect(withMode(next, field, [field.key], mode)).toBe(next);
            draft = readText(draft, changedByForm(next).text).draft;
            expect(draft).toEqual(next);
          }
          for (const name of Object.keys(start)) {
            if (name === configField || name === 'customization') continue;
            expect(valueAt(draft, [name])).toEqual(valueAt(start, [name]));
          }
          for (const member of [configField, 'customization']) {
            const before = valueAt(start, [member]) as Draft;
            for (const key of Object.keys(before)) {
              if (touched.has(key) || key === 'field_customizations') continue;
              expect(valueAt(draft, [member, key])).toEqual(before[key]);
            }
          }
        },
      ),
      { numRuns: isLongRun ? 2_000 : 100 },
    );
  });
});
