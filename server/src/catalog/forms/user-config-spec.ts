/**
 * What a customer has to enter: the connector's specification without what the template's defaults give. A default
 * takes its field away; a default for an object takes away only the properties that it gives. Where the defaults choose
 * one of several forms, the other properties of that form remain. The rest of the specification stays as it is. No
 * default value is ever part of the result.
 */
import { choiceOf } from '@inlay/contract/catalog/choices';
import { type Configuration, isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';

export function userConfigSpec(
  { connectionSpecification, advanced_auth, ...rest }: ConnectorSpecification,
  defaults: Configuration,
): ConnectorSpecification {
  return {
    ...rest,
    connectionSpecification: remainder(connectionSpecification, defaults),
    ...(advanced_auth && !isRuledOut(advanced_auth, defaults) ? { advanced_auth } : {}),
  };
}

/** The schema of an object without the properties that `given` covers. */
function remainder(schema: JsonSchema, given: Configuration): JsonSchema {
  const choice = choiceOf(schema);
  const chosen = choice && Object.hasOwn(given, choice.tag) ? choice.forms.get(String(given[choice.tag])) : undefined;
  if (chosen) {
    const { oneOf: _, ...outside } = schema;
    return remainder({ ...outside, ...chosen, ...bothProperties(schema, chosen) }, given);
  }
  const reduced = isObject(schema.properties) ? withoutCovered(schema, schema.properties, given) : schema;
  if (!Array.isArray(schema.oneOf)) return reduced;
  return { ...reduced, oneOf: schema.oneOf.map((form) => (isObject(form) ? remainder(form, given) : form)) };
}

function bothProperties(outer: JsonSchema, inner: JsonSchema): JsonSchema {
  const properties = [outer, inner].map((schema) => (isObject(schema.properties) ? schema.properties : {}));
  return {
    properties: Object.assign({}, ...properties),
    required: [...new Set([...requiredOf(outer), ...requiredOf(inner)])],
    // The title of the field, not the title of the form that was chosen for it.
    ...(outer.title === undefined ? {} : { title: outer.title, ...bothTranslations(outer, inner) }),
  };
}

/** In every language: the title comes from the field, the other words from the form, as above. */
function bothTranslations(outer: JsonSchema, inner: JsonSchema): JsonSchema {
  const [outside, inside] = [outer, inner].map(({ translations }) => (isObject(translations) ? translations : {}));
  const translations = Object.entries({ ...inside, ...outside }).map(([language]) => {
    const [field, form] = [outside, inside].map((words) => (isObject(words?.[language]) ? words[language] : {}));
    const { title: _, ...others } = { ...field, ...form };
    return [language, { ...others, ...(field?.title === undefined ? {} : { title: field.title }) }];
  });
  return translations.length === 0 ? {} : { translations: Object.fromEntries(translations) };
}

function withoutCovered(schema: JsonSchema, properties: Record<string, unknown>, given: Configuration): JsonSchema {
  const left: Record<string, unknown> = {};
  const required = new Set(requiredOf(schema));
  for (const [name, property] of Object.entries(properties)) {
    if (!Object.hasOwn(given, name)) {
      left[name] = property;
      continue;
    }
    required.delete(name);
    const rest = restOf(property, given[name]);
    if (!rest) continue;
    left[name] = rest;
    // The defaults give a part of the object, so the customer must give the rest, even if the whole object is optional.
    if (requiredOf(rest).length > 0 || Array.isArray(rest.oneOf)) required.add(name);
  }
  return { ...schema, properties: left, required: [...required] };
}

/** What the customer is still asked for inside one property; undefined when nothing is left. */
function restOf(property: unknown, value: unknown): JsonSchema | undefined {
  if (!isObject(property) || !isObject(value)) return undefined;
  if (!isObject(property.properties) && !Array.isArray(property.oneOf)) return undefined;
  const rest = remainder(property, value);
  const isEmpty = Object.keys(isObject(rest.properties) ? rest.properties : {}).length === 0;
  return isEmpty && !Array.isArray(rest.oneOf) ? undefined : rest;
}

function requiredOf({ required }: JsonSchema): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

/** OAuth applies only where a field has a certain value. The defaults may give the field another value. */
function isRuledOut({ predicate_key, predicate_value }: Record<string, unknown>, defaults: Configuration): boolean {
  if (!Array.isArray(predicate_key) || predicate_key.length === 0) return false;
  let value: unknown = defaults;
  for (const key of predicate_key) {
    value = isObject(value) && Object.hasOwn(value, String(key)) ? value[String(key)] : undefined;
  }
  return value !== undefined && value !== predicate_value;
}
