/** Checks a connector's configuration against its specification. */
import type { Configuration, JsonSchema } from '@inlay/contract/connector-configuration';
import { linearRegExp, withBoundedPatterns } from '@inlay/contract/linear-patterns';
import { Ajv, type ValidateFunction } from 'ajv';
import { Problem } from '../problems.ts';

/** Throws `unprocessable-entity`. The message names fields and rules, never values, since a value may be a secret. */
export function checkConfiguration(specification: JsonSchema, configuration: Configuration): void {
  const validate = compiled(specification);
  if (withBoundedPatterns(() => validate(configuration))) return;
  const faults = (validate.errors ?? []).map(({ instancePath, message }) =>
    `configuration${instancePath.replaceAll('/', '.')} ${message ?? 'is not valid'}`.trim(),
  );
  throw new Problem('unprocessable-entity', { message: faults.join('; ') });
}

const validators = new WeakMap<JsonSchema, ValidateFunction>();

/**
 * Not strict: specifications carry annotations (`order`, `airbyte_secret`) that are no JSON Schema keywords. Each has
 * a compiler of its own, which goes with it: a compiler remembers what it has compiled, and ids within must not meet.
 */
export function compiled(specification: JsonSchema): ValidateFunction {
  const validate =
    validators.get(specification) ??
    new Ajv({ strict: false, allErrors: true, validateFormats: false, code: { regExp: linearRegExp } }).compile(
      specification,
    );
  validators.set(specification, validate);
  return validate;
}
