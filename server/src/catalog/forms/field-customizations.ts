/**
 * Single fields of the form that customers fill in: fields that nobody gives (`hidden`), and fields that start with a value
 * (`default`). A field is found by its path; where the connector offers several forms, in each form that has it.
 *
 * What always holds: a customer never sets a hidden field, not even with a request of their own; a source that had a value
 * before the field was hidden keeps it.
 */
import { type Configuration, isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import type { FieldCustomization } from '@inlay/contract/catalog/source-templates';
import type { Fault } from '@inlay/contract/errors';
import { partialConfigurationFaults } from '../definitions/configuration-faults.ts';

type Change = (property: JsonSchema, name: string, outer: JsonSchema) => JsonSchema | undefined;

/** The specification as customers see it. */
export function customizedSpec(
  specification: ConnectorSpecification,
  fields: readonly FieldCustomization[] = [],
): ConnectorSpecification {
  const connectionSpecification = fields.reduce(
    (schema, field) =>
      changedAt(schema, field.path, (property) =>
        field.hidden ? undefined : 'default' in field ? { ...property, default: field.default } : property,
      ),
    specification.connectionSpecification,
  );
  return { ...specification, connectionSpecification };
}

function changedAt(schema: JsonSchema, path: readonly string[], change: Change): JsonSchema {
  const [name, ...inner] = path;
  if (name === undefined) return schema;
  const { properties, oneOf, required } = schema;
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  let changed = schema;
  if (isObject(properties) && isObject(property)) {
    const next = inner.length > 0 ? changedAt(property, inner, change) : change(property, name, schema);
    const { [name]: _, ...others } = properties;
    changed = next
      ? { ...schema, properties: { ...properties, [name]: next } }
      : {
          ...schema,
          properties: others,
          ...(Array.isArray(required) && { required: required.filter((one) => one !== name) }),
        };
  }
  if (!Array.isArray(oneOf)) return changed;
  return { ...changed, oneOf: oneOf.map((form) => (isObject(form) ? changedAt(form, path, change) : form)) };
}

/** What is wrong, for the operator who makes the template. */
export function fieldCustomizationFaults(
  specification: ConnectorSpecification,
  fields: readonly FieldCustomization[] = [],
): Fault[] {
  return fields.flatMap((field, index) => {
    const at = ['body', 'customization', 'field_customizations', String(index)];
    const fault = (msg: string): Fault[] => [{ loc: [...at, 'path'], msg, type: 'value_error' }];
    const found: { property: JsonSchema; isRequired: boolean }[] = [];
    changedAt(specification.connectionSpecification, field.path, (property, name, { required }) => {
      found.push({ property, isRequired: Array.isArray(required) && required.includes(name) });
      return property;
    });
    if (found.length === 0) return fault("the connector's specification has no such field");
    if (field.hidden && found.some(({ isRequired }) => isRequired)) {
      return fault('a required field cannot be hidden: set it in partial_default_config, or let customers enter it');
    }
    if (!('default' in field)) return [];
    if (found.some(({ property }) => property.airbyte_secret === true)) {
      return fault('a secret cannot have a default value, because customers would see it');
    }
    const alone = field.path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), field.default) as Configuration;
    // In one of several forms, the value says nothing of which form it is for.
    const isInForm = field.path.length > 1;
    return isInForm ? [] : partialConfigurationFaults(specification, alone, [...at, 'default']);
  });
}

/** What a customer gives, without what the customer may not give. */
export function withoutHidden(
  given: Configuration,
  stored: Configuration,
  fields: readonly FieldCustomization[] = [],
): Configuration {
  return fields
    .filter(({ hidden }) => hidden)
    .reduce((left, { path }) => withValue(left, path, valueAt(stored, path)), given);
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  );
}

/** Undefined takes the value away, and makes nothing on the way to it. */
function withValue(whole: Configuration, path: readonly string[], value: unknown): Configuration {
  const [key, ...rest] = path;
  if (key === undefined) return whole;
  const { [key]: before, ...others } = whole;
  if (rest.length === 0) return value === undefined ? others : { ...whole, [key]: value };
  if (!isObject(before)) return value === undefined ? whole : { ...whole, [key]: withValue({}, rest, value) };
  return { ...whole, [key]: withValue(before, rest, value) };
}
