/*
 * Translations of a connector's texts. A specification is written in English; `translate` adds other languages to every
 * title, description and option, as `translations` next to it:
 *
 *   { "title": "Port", "translations": { "de": { "title": "Port" }, … } }
 *
 * A form takes the words of its reader's language where they are there, and the English ones where they are not.
 */
import { isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';

/** Other than English. */
export const languages = ['de', 'es', 'fr', 'ja'] as const;
type Language = (typeof languages)[number];

/** What each English text is in the other languages. */
export type Dictionary = Readonly<Record<string, Readonly<Record<Language, string>>>>;

/** The same in every language: names, and what is a word everywhere. */
export const everywhere = (text: string): Record<Language, string> => ({ de: text, es: text, fr: text, ja: text });

export function translate(schema: JsonSchema, dictionary: Dictionary): JsonSchema {
  const inner = (value: unknown) => (isObject(value) ? translate(value, dictionary) : value);
  const innerAll = (value: unknown) => (Array.isArray(value) ? value.map(inner) : value);
  const { properties, items, oneOf, groups } = schema;
  return {
    ...schema,
    ...(isObject(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, property]) => [key, inner(property)])),
    }),
    ...('items' in schema && { items: inner(items) }),
    ...('oneOf' in schema && { oneOf: innerAll(oneOf) }),
    ...('groups' in schema && { groups: innerAll(groups) }),
    ...translationsOf(schema, dictionary),
  };
}

function translationsOf({ title, description, enumNames }: JsonSchema, dictionary: Dictionary): JsonSchema {
  const translations = languages.map((language): [Language, JsonSchema] => {
    const word = (text: unknown) =>
      typeof text === 'string' && Object.hasOwn(dictionary, text) ? dictionary[text]?.[language] : undefined;
    const names = Array.isArray(enumNames) ? enumNames.map(word) : [];
    const words = {
      title: word(title),
      description: word(description),
      enumNames: names.length > 0 && names.every((name) => name !== undefined) ? names : undefined,
    };
    return [language, Object.fromEntries(Object.entries(words).filter(([, value]) => value !== undefined))];
  });
  const found = translations.filter(([, words]) => Object.keys(words).length > 0);
  return found.length > 0 ? { translations: Object.fromEntries(found) } : {};
}
