/** Specifications of all kinds of fields, nested in all ways, each with a configuration that satisfies it. */
import { isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import fc from 'fast-check';

const annotations = fc.record(
  {
    title: fc.string(),
    description: fc.string(),
    order: fc.integer({ min: 0, max: 5 }),
    always_show: fc.boolean(),
    airbyte_hidden: fc.boolean(),
  },
  { requiredKeys: [] },
);

const texts = fc.oneof(fc.string(), fc.constantFrom('', ' ', '0', '**********', 'null', '2024-01-01T00:00:00Z'));
const choices = fc.uniqueArray(fc.oneof(fc.string(), fc.integer()), { minLength: 2, maxLength: 4 });
const keys = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'host', 'api_key', 'x.y', 'a b', 'constructor', 'items'),
  fc.string({ minLength: 1 }),
);
const propertyName = keys.filter((key) => key !== '__proto__');

const simple: fc.Arbitrary<JsonSchema> = fc.oneof(
  fc.record({ type: fc.constant('string'), airbyte_secret: fc.boolean(), multiline: fc.boolean() }),
  fc.record({ type: fc.constant('string'), default: texts }),
  fc.constantFrom<JsonSchema>(
    { type: ['string', 'null'] },
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$' },
    { type: 'integer', minimum: -5, default: 3 },
    { type: 'number' },
    { type: 'boolean', default: true },
    { type: 'boolean' },
    { type: 'object' },
    { type: 'array', items: { type: 'string' }, default: ['public'] },
    { type: 'array', items: { type: 'integer' } },
  ),
  choices.map((values) => ({ enum: values, default: values[1] })),
  choices.map((values) => ({ type: 'array', items: { enum: values } })),
);

type ObjectSchema = { type: string; properties: Record<string, JsonSchema>; required: string[] };

type Nested = {
  any: JsonSchema;
  object: ObjectSchema;
  choice: JsonSchema;
};

const { object } = fc.letrec<Nested>((tie) => ({
  any: fc
    .tuple(
      fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        simple,
        tie('object'),
        tie('choice'),
        fc.tuple(fc.oneof(tie('object'), tie('choice'))).map(([items]) => ({ type: 'array', items })),
      ),
      annotations,
    )
    .map(([schema, more]) => ({ ...schema, ...more })),
  object: fc
    .array(fc.tuple(propertyName, tie('any'), fc.boolean()), { minLength: 1, maxLength: 4 })
    .map((properties) => ({
      type: 'object',
      properties: Object.fromEntries(properties.map(([key, schema]) => [key, schema])),
      required: properties.filter(([, , required]) => required).map(([key]) => key),
    })),
  choice: fc
    .tuple(fc.array(tie('object'), { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([branches, isOlder]) => ({
      type: 'object',
      oneOf: branches.map(({ properties, required }, index) => ({
        title: `Branch ${index}`,
        required: [...required.filter((key) => key !== 'tag'), 'tag'],
        properties: {
          ...properties,
          tag: { type: 'string', ...(isOlder ? { enum: [`branch-${index}`] } : { const: `branch-${index}` }) },
        },
      })),
    })),
}));

/** Any value that satisfies the schema. */
function valueFor(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (Array.isArray(schema.oneOf)) return fc.oneof(...schema.oneOf.map(valueFor));
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (schema.format === 'date') return fc.constantFrom('2024-02-29', '1999-12-31');
  if (schema.format === 'date-time') return fc.constantFrom('2024-02-29T12:30:00Z', '1999-12-31T23:59:59Z');
  if (isObject(schema.properties)) return objectValueFor(schema);
  switch (Array.isArray(schema.type) ? 'nullable' : schema.type) {
    case 'nullable':
      return fc.oneof(texts, fc.constant(null));
    case 'integer':
      return fc.integer({ min: -5 });
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0));
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valueFor(isObject(schema.items) ? schema.items : {}), { maxLength: 3 });
    case 'object':
      return fc.dictionary(
        propertyName,
        fc.jsonValue({ maxDepth: 1 }).filter((value) => !Object.is(value, -0)),
        { maxKeys: 2, noNullPrototype: true },
      );
    default:
      return texts;
  }
}

function objectValueFor({ properties, required }: JsonSchema): fc.Arbitrary<unknown> {
  const needed = Array.isArray(required) ? required : [];
  const known = Object.entries(properties as Record<string, JsonSchema>);
  const values = fc.record(Object.fromEntries(known.map(([key, schema]) => [key, valueFor(schema)])), {
    requiredKeys: known.map(([key]) => key).filter((key) => needed.includes(key)),
    noNullPrototype: true,
  });
  const unknown = fc.option(fc.constant({ 'kept as it is': { deep: [1, null, ''] } }), { nil: {} });
  return fc.tuple(unknown, values).map(([more, value]) => ({ ...more, ...value }));
}

export interface Configured {
  specification: JsonSchema;
  configuration: Record<string, unknown>;
}

export const configured: fc.Arbitrary<Configured> = object.chain((specification) =>
  valueFor(specification).map((configuration) => ({
    specification,
    configuration: configuration as Record<string, unknown>,
  })),
);
