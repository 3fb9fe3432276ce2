/**
 * A specification in the reader's language. A connector may give titles, descriptions and options in other languages,
 * as `translations` beside them. Missing translations fall back to the English text.
 */
import { isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';

export function translated(schema: JsonSchema, language: string): JsonSchema {
  const inner = (value: unknown) => (isObject(value) ? translated(value, language) : value);
  const innerAll = (value: unknown) => (Array.isArray(value) ? value.map(inner) : value);
  const { properties, items, oneOf, allOf, groups } = schema;
  return {
    ...schema,
    ...(isObject(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, property]) => [key, inner(property)])),
    }),
    ...(isObject(items) && { items: inner(items) }),
    ...(Array.isArray(oneOf) && { oneOf: innerAll(oneOf) }),
    ...(Array.isArray(allOf) && { allOf: innerAll(allOf) }),
    ...(Array.isArray(groups) && { groups: innerAll(groups) }),
    ...wordsOf(schema, language),
  };
}

function wordsOf({ translations, enum: options }: JsonSchema, language: string): JsonSchema {
  const words = isObject(translations) && Object.hasOwn(translations, language) ? translations[language] : undefined;
  if (!isObject(words)) return {};
  const { title, description, enumNames } = words;
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    // A name belongs to the option at the same place, so a list of another length would name the wrong options.
    ...(Array.isArray(enumNames) && Array.isArray(options) && enumNames.length === options.length && { enumNames }),
  };
}
