/** Checks a connector's configuration against its specification. */
import type { Configuration, JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { linearRegExp, withBoundedPatterns } from '@inlay/contract/text/linear-patterns';
import type { ConnectorSpecification } from '@inlay/protocol/protocol';
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
 * Not strict: specifications carry annotations (`order`, `airbyte_secret`) that are not JSON Schema keywords. Own
 * properties only: otherwise an option named like an inherited member, such as `constructor`, would always exist.
 */
const options = {
  ...{ strict: false, allErrors: true, validateFormats: false, ownProperties: true },
  code: { regExp: linearRegExp },
} as const;

/** Specifications name dialects by many URLs, but use the keywords that all of them share. */
function withoutDialect({ $schema: _dialect, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/**
 * Knows the rules for a JSON Schema. One for all specifications, made for the first: to compile the rules takes longer than
 * anything else here.
 */
let rulesOfSchemas: Ajv | undefined;

/** Throws if the specification is not a valid JSON Schema. For new specifications: later uses trust them. */
function requireSchema(specification: JsonSchema): void {
  rulesOfSchemas ??= new Ajv(options);
  // A promise only where the rules are asynchronous, which these are not.
  void rulesOfSchemas.validateSchema(withoutDialect(specification), true);
  compiled(specification);
}

/** The same with words for those who add a connector. */
export function requireUsable({ connectionSpecification }: ConnectorSpecification): void {
  try {
    requireSchema(connectionSpecification);
  } catch (cause) {
    const message = `The connector's specification is not a valid JSON Schema: ${(cause as Error).message}`;
    throw new Problem('unprocessable-entity', { message }, { cause });
  }
}

/**
 * Each specification has its own compiler, released with it: a compiler caches what it has compiled, and ids in
 * different specifications may collide. Validating the specification itself takes longer than compiling it.
 */
function compiled(specification: JsonSchema): ValidateFunction {
  const validate =
    validators.get(specification) ??
    new Ajv({ ...options, validateSchema: false }).compile(withoutDialect(specification));
  validators.set(specification, validate);
  return validate;
}
