/**
 * Compares a connector's configuration with the connector's specification. The configuration may be complete, or a part
 * that somebody else will complete. All faults are reported at once, each with its place. In an object with several
 * forms, only the faults of the chosen form are reported.
 */
import { type Configuration, isObject, type JsonSchema } from '@inlay/contract/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/definitions';
import { type Fault, faultTypes } from '@inlay/contract/errors';
import { linearRegExp, withBoundedPatterns } from '@inlay/contract/linear-patterns';
import { type ConfigurationChange, secretsOnTheMove } from '@inlay/contract/secret-addresses';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { AppError } from '../errors.ts';
import { addFaults } from '../schema-faults.ts';
import { type Choice, choiceOf } from './choices.ts';

/** `at` is where the configuration stands in the request, as in `['body', 'source_config']`. */
export function configurationFaults(
  { connectionSpecification }: ConnectorSpecification,
  configuration: Configuration,
  at: readonly string[],
): Fault[] {
  return check(validatorFor(complete, connectionSpecification, false), configuration, at);
}

/** For a part of a configuration: a missing value is no fault. */
export function partialConfigurationFaults(
  { connectionSpecification }: ConnectorSpecification,
  configuration: Configuration,
  at: readonly string[],
): Fault[] {
  return check(validatorFor(partial, connectionSpecification, true), configuration, at);
}

/** One fault for each secret that is masked in `given` while an address beside it changes. */
export function movedSecretFaults(
  { connectionSpecification }: ConnectorSpecification,
  change: ConfigurationChange,
  at: readonly string[],
): Fault[] {
  return secretsOnTheMove(connectionSpecification, change).map((path) => ({
    loc: [...at, ...path],
    msg: faultTypes['value_error.secret'][1],
    type: 'value_error.secret',
  }));
}

function check(validate: ValidateFunction, configuration: Configuration, at: readonly string[]): Fault[] {
  const tooLong = longLists(configuration, at);
  if (tooLong.length > 0) return tooLong;
  if (withBoundedPatterns(() => validate(configuration))) return [];
  const faults: Fault[] = [];
  addFaults(faults, withoutOtherForms(validate.errors ?? []), at);
  return faults;
}

/** Validators compare each item of a list with every other, so a small request could hold up everybody. */
const maxItems = 5_000;

function longLists(value: unknown, at: readonly string[]): Fault[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value) && value.length > maxItems) {
    const msg = `ensure this value has at most ${maxItems} items`;
    return [{ loc: [...at], msg, type: 'value_error.list.max_items' }];
  }
  return Object.entries(value).flatMap(([key, member]) => longLists(member, [...at, key]));
}

/** Where none of several forms fits, the faults of every single form would help nobody. */
function withoutOtherForms(errors: readonly ErrorObject[]): ErrorObject[] {
  const choices = new Set(
    errors.filter(({ keyword }) => /^(one|any)Of$/.test(keyword)).map(({ schemaPath }) => `${schemaPath}/`),
  );
  return errors.filter(({ schemaPath }) => ![...choices].some((choice) => schemaPath.startsWith(choice)));
}

// The keys are the specifications, so that validators are dropped with them when the definitions are read again.
const complete = new WeakMap<JsonSchema, ValidateFunction>();
const partial = new WeakMap<JsonSchema, ValidateFunction>();

function validatorFor(
  known: WeakMap<JsonSchema, ValidateFunction>,
  specification: JsonSchema,
  isPartial: boolean,
): ValidateFunction {
  let validate = known.get(specification);
  if (!validate) {
    validate = compile(checkable(specification, isPartial));
    known.set(specification, validate);
  }
  return validate;
}

const ajv = new Ajv({
  strict: false,
  allErrors: true,
  verbose: true,
  validateFormats: false,
  discriminator: true,
  code: { regExp: linearRegExp },
});

/** Undefined for a specification that configurations can be checked with; else what is wrong with it. */
export function usableSpecificationFault({ connectionSpecification }: ConnectorSpecification): string | undefined {
  try {
    validatorFor(complete, connectionSpecification, false);
    validatorFor(partial, connectionSpecification, true);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.cause instanceof Error ? error.cause.message : error.message;
  }
}

function compile(schema: JsonSchema): ValidateFunction {
  try {
    return ajv.compile(schema);
  } catch (cause) {
    throw new AppError('definition_unusable', {}, { cause });
  } finally {
    // Otherwise Ajv keeps every schema that it has compiled.
    ajv.removeSchema(schema);
  }
}

/** The schema in the form that our validator takes. For a part of a configuration, nothing is required. */
function checkable(schema: JsonSchema, isPartial: boolean): JsonSchema {
  // Other schemas refer to a schema by these names. Here they are not needed and could collide.
  const { $schema, $id, id, required, ...rest } = schema;
  const inside = (value: unknown) => (isObject(value) ? checkable(value, isPartial) : value);
  const insideAll = (value: unknown) => (Array.isArray(value) ? value.map(inside) : inside(value));
  const result: Record<string, unknown> = { ...rest };
  if (Array.isArray(required) && !isPartial) result.required = required;
  if (isObject(rest.properties)) {
    result.properties = Object.fromEntries(Object.entries(rest.properties).map(([name, of]) => [name, inside(of)]));
  }
  for (const keyword of ['items', 'additionalProperties', 'oneOf', 'anyOf', 'allOf']) {
    if (keyword in rest) result[keyword] = insideAll(rest[keyword]);
  }
  const choice = choiceOf(schema);
  if (choice) return { ...withoutOneOf(result), type: 'object', ...chosen(choice, isPartial) };
  if (isPartial && 'oneOf' in result) return { ...withoutOneOf(result), anyOf: result.oneOf };
  return result;
}

function withoutOneOf({ oneOf, ...rest }: Record<string, unknown>): JsonSchema {
  return rest;
}

function chosen({ tag, forms }: Choice, isPartial: boolean): JsonSchema {
  const branches = [...forms.values()].map((form) => checkable(form, isPartial));
  const byTag = {
    discriminator: { propertyName: tag },
    oneOf: branches.map((branch) => ({ ...branch, required: withTag(branch.required, tag) })),
  };
  if (!isPartial) return byTag;
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: { required: [tag] }, then: byTag, else: { anyOf: branches } };
}

function withTag(required: unknown, tag: string): unknown[] {
  return [...new Set([tag, ...(Array.isArray(required) ? required : [])])];
}
