import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { describe, expect, it } from 'vitest';
import { everyConvention } from '../../../widget/test/specifications.ts';
import { readSpecification } from './fields.ts';
import { translated } from './translation.ts';

const specification: JsonSchema = {
  type: 'object',
  required: ['size'],
  groups: [{ id: 'a', title: 'First', translations: { de: { title: 'Erste' } } }],
  properties: {
    size: {
      type: 'string',
      title: 'Size',
      description: 'How big.',
      group: 'a',
      enum: ['s', 'l'],
      enumNames: ['Small', 'Large'],
      translations: {
        de: { title: 'Größe', description: 'Wie groß.', enumNames: ['Klein', 'Groß'] },
        fr: { title: 'Taille', enumNames: ['Petit'] },
        ja: { title: 7, description: null },
        es: 'Tamaño',
      },
    },
    // A property may be called that.
    translations: { type: 'object', properties: { de: { type: 'string', title: 'German' } } },
    list: {
      type: 'array',
      items: { oneOf: [{ title: 'One', translations: { de: { title: 'Eins' } }, properties: { a: { const: 1 } } }] },
    },
  },
};

describe('a specification in another language', () => {
  it('has the words of that language, in groups, options and branches as well', () => {
    const { sections, fields } = readSpecification(translated(specification, 'de'));
    expect(sections.at(-1)?.title).toBe('Erste');
    expect(fields.find(({ key }) => key === 'size')).toMatchObject({ title: 'Größe', description: 'Wie groß.' });
    expect(JSON.stringify(translated(specification, 'de'))).toContain('"enumNames":["Klein","Groß"]');
    expect(fields.find(({ key }) => key === 'list')).toMatchObject({ item: { branches: [{ title: 'Eins' }] } });
    expect(fields.find(({ key }) => key === 'translations')).toMatchObject({ fields: [{ title: 'German' }] });
  });

  it.each(['en', 'ja', 'es', 'constructor'])('keeps the English words where there are no others: %s', (language) => {
    expect(translated(specification, language)).toEqual(specification);
  });

  it('keeps the names of options that it lacks some for', () => {
    expect(translated(specification, 'fr').properties).toMatchObject({
      size: { title: 'Taille', description: 'How big.', enumNames: ['Small', 'Large'] },
    });
  });

  it('is the same where a connector has one language', () => {
    expect(translated(everyConvention, 'de')).toEqual(everyConvention);
  });
});
