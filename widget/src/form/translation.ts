/**
 * A specification in the reader's language. A connector may give the words of a title, a description or options in other
 * languages, as `translations` beside them, and English counts where it does not: a specification without any is as it was.
 */
import { isObject, type JsonSchema } from '@inlay/contract/connector-configuration';

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
    // Names are told by their place, so a list that is shorter or longer would name the wrong option.
    ...(Array.isArray(enumNames) && Array.isArray(options) && enumNames.length === options.length && { enumNames }),
  };
}
