/**
 * Compares a connector's configuration with the connector's specification. The configuration may be complete, or a part
 * that someone else will complete. All faults are reported at once, each with its place. In an object with several
 * forms, only the faults of the chosen form are reported.
 */
import { checkableSchema, validatorOptions } from '@inlay/contract/catalog/checkable-schema';
import type { Configuration, JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import { type ConfigurationChange, redirectedSecrets } from '@inlay/contract/catalog/secret-addresses';
import { type Fault, faultTypes } from '@inlay/contract/errors';
import { withBoundedPatterns } from '@inlay/contract/text/linear-patterns';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { AppError } from '../../kernel/errors.ts';
import { addFaults } from '../../kernel/schema-faults.ts';

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
export function redirectedSecretFaults(
  { connectionSpecification }: ConnectorSpecification,
  change: ConfigurationChange,
  at: readonly string[],
): Fault[] {
  return redirectedSecrets(connectionSpecification, change).map((path) => ({
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
    validate = compile(specification, isPartial);
    known.set(specification, validate);
  }
  return validate;
}

const ajv = new Ajv(validatorOptions);

function compile(specification: JsonSchema, isPartial: boolean): ValidateFunction {
  let schema: JsonSchema | undefined;
  try {
    schema = checkableSchema(specification, isPartial);
    return ajv.compile(schema);
  } catch (cause) {
    throw new AppError('definition_unusable', {}, { cause });
  } finally {
    // Otherwise Ajv keeps every schema that it has compiled.
    if (schema) ajv.removeSchema(schema);
  }
}
