/**
 * Prepares a connector's specification for validation, within limits. Anybody can write a specification, and compiling
 * one blocks the event loop for every tenant. The size limit therefore applies after nested choices are expanded.
 */

import { linearRegExp, sizeOf } from '../text/linear-patterns.ts';
import { type Choice, choiceOf } from './choices.ts';
import { isObject, type JsonSchema } from './connector-configuration.ts';

/** The largest published specification has a fraction of these values. */
const maxValues = 10_000;

/** The message is for the author of the specification. */
export class SpecificationTooLarge extends Error {
  override readonly name = 'SpecificationTooLarge';

  constructor() {
    super(
      `it has more than ${maxValues} values once nested choices are expanded. Each pattern counts as 25 values or more`,
    );
  }
}

/** Options of Ajv. Not strict: specifications carry annotations (`order`, `airbyte_secret`) that are no keywords. */
export const validatorOptions = {
  strict: false,
  allErrors: true,
  verbose: true,
  validateFormats: false,
  // Otherwise an option named like an inherited member, such as `constructor`, would always count as present.
  ownProperties: true,
  discriminator: true,
  code: { regExp: linearRegExp },
} as const;

/** With `isPartial`, no field is required. Throws SpecificationTooLarge. */
export function checkableSchema(schema: JsonSchema, isPartial: boolean): JsonSchema {
  assertSize(schema, { left: maxValues });
  const result = checkable(schema, isPartial);
  assertSize(result, { left: maxValues });
  return result;
}

/**
 * A schema that appears in several places is counted in each, because it is compiled for each. Patterns count by
 * compile time.
 */
function assertSize(value: unknown, room: { left: number }): void {
  if (--room.left < 0) throw new SpecificationTooLarge();
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const patterns =
      key === 'pattern' ? [inner] : key === 'patternProperties' && isObject(inner) ? Object.keys(inner) : [];
    for (const pattern of patterns) if (typeof pattern === 'string') room.left -= 25 + Math.ceil(sizeOf(pattern) / 10);
    assertSize(inner, room);
  }
}

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
  const choice = choiceOf(schema);
  const keywords = ['items', 'additionalProperties', 'anyOf', 'allOf', ...(choice ? [] : ['oneOf'])];
  for (const keyword of keywords) if (keyword in rest) result[keyword] = insideAll(rest[keyword]);
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
