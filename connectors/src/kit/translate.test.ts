/* Every word that a customer reads in a form of a bundled connector is there in every language of the widget. */
import { isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { widgetLocales } from '@inlay/contract/embedding';
import { bundledDefinitions } from '@inlay/platform/definitions/bundled-definitions';
import { describe, expect, it } from 'vitest';
import { dictionary as fileWords } from '../file/words.ts';
import { dictionary as httpApiWords } from '../http-api/words.ts';
import { sourceDictionary as postgresWords } from '../postgres/words.ts';
import { dictionary as sampleDataWords } from '../sample-data/words.ts';
import { type Dictionary, languages, translate } from './translate.ts';

/** Customers fill in sources; destinations are the operator's, who speaks with the API. */
const sources = bundledDefinitions.filter(({ kind }) => kind === 'source');

interface Node {
  at: string;
  schema: JsonSchema;
}

/** Everything in a schema that may have words, but its own title, which no form shows. */
function nodesIn(schema: JsonSchema, at = ''): Node[] {
  const inside = (value: unknown, name: string): Node[] =>
    isObject(value) ? [{ at: `${at}/${name}`, schema: value }, ...nodesIn(value, `${at}/${name}`)] : [];
  const { properties, items, oneOf, groups } = schema;
  return [
    ...Object.entries(isObject(properties) ? properties : {}).flatMap(([key, property]) => inside(property, key)),
    ...inside(items, 'items'),
    ...[oneOf, groups].flatMap((list) => (Array.isArray(list) ? list : []).flatMap((one, i) => inside(one, String(i)))),
  ];
}

/** The words of a node that a language lacks. */
function lackingIn({ at, schema }: Node, language: string): string[] {
  const translations = isObject(schema.translations) ? schema.translations : {};
  const words = isObject(translations[language]) ? translations[language] : {};
  return ['title', 'description', 'enumNames']
    .filter((word) => word in schema && !(isObject(words) && word in words))
    .map((word) => `${at} ${word}`);
}

it('the languages are those of the widget', () => {
  expect([...languages, 'en'].sort()).toEqual([...widgetLocales].sort());
});

describe.each(sources.map(({ slug, specification }) => [slug, specification.connectionSpecification] as const))(
  '%s',
  (_, specification) => {
    const nodes = nodesIn(specification);

    it.each(languages)('has every title, description and option in %s', (language) => {
      expect(nodes.flatMap((node) => lackingIn(node, language))).toEqual([]);
    });

    it('has a title for every field, and a name for every option', () => {
      const properties = nodes.filter(({ schema }) => 'type' in schema && !('const' in schema));
      expect(properties.length).toBeGreaterThan(0);
      const untitled = properties.filter(({ at, schema }) => !('title' in schema) && !at.endsWith('/items'));
      const unnamed = nodes.filter(({ schema }) => 'enum' in schema && !('enumNames' in schema));
      expect([...untitled, ...unnamed].map(({ at }) => at)).toEqual([]);
    });
  },
);

it('no word is left that no connector uses', () => {
  const used = new Set(
    sources
      .flatMap(({ specification }) => nodesIn(specification.connectionSpecification))
      .flatMap(({ schema: { title, description, enumNames } }) => [title, description, enumNames].flat()),
  );
  const dictionaries: Dictionary[] = [fileWords, httpApiWords, postgresWords, sampleDataWords];
  expect(dictionaries.flatMap((words) => Object.keys(words)).filter((word) => !used.has(word))).toEqual([]);
});

it('a word that is not in the dictionary stays as it is', () => {
  const schema = { title: 'Unknown', properties: { a: { title: 'toString', enum: [1], enumNames: ['One'] } } };
  expect(translate(schema, {})).toEqual(schema);
});
