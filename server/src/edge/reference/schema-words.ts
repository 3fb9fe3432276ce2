/** Describes a JSON schema in words for readers, lists its fields, and makes an example. Words may contain `code`. */

export interface Schema {
  /** A reference: the schema itself is elsewhere in the document. */
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  /** The schema that applies when the condition `if` does not hold. */
  else?: Schema;
  items?: Schema;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

/** Deeper levels are cut off: no reader follows, and a schema that contains itself would never end. */
const maxDepth = 8;

/** Type, permitted values, limits and default: "integer, 1 to 100, defaults to `20`". */
export function describeSchema(schema: Schema): string {
  const type = typeInWords(schema);
  return [
    // The permitted values show already that they are strings.
    !(schema.enum && type === 'string') && type,
    schema.enum && `one of ${schema.enum.map((value) => memberInWords(value, schema.default)).join(', ')}`,
    schema.const !== undefined && `always ${asCode(schema.const)}`,
    limitsInWords(schema),
    schema.default !== undefined && !schema.enum && `defaults to ${asCode(schema.default)}`,
  ]
    .filter(Boolean)
    .join(', ');
}

function memberInWords(value: unknown, preset: unknown): string {
  return value === preset ? `${asCode(value)} (default)` : asCode(value);
}

/** Formats that name a kind of value. Other formats restrict a string, and the description of the field says how. */
const formatNames: Record<string, string> = {
  uuid: 'UUID',
  'date-time': 'timestamp (ISO 8601)',
  uri: 'URL',
  'web-origin': 'origin',
};

function typeInWords(schema: Schema): string {
  const variants = variantsOf(schema);
  if (variants.length > 0) return [...new Set(variants.map(typeInWords))].join(' or ');
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return 'any value';
  return types
    .map((type) => {
      if (type === 'array') return `array of ${schema.items ? plural(typeInWords(schema.items)) : 'any values'}`;
      return (type === 'string' && formatNames[schema.format ?? '']) || type;
    })
    .join(' or ');
}

function plural(words: string): string {
  return /^[\w ]+$/.test(words) && !words.includes(' or ') ? `${words}s` : words;
}

function limitsInWords(schema: Schema): string | undefined {
  return (
    rangeInWords(schema.minimum, schema.maximum, '') ??
    rangeInWords(schema.minLength, schema.maxLength, ' characters') ??
    rangeInWords(schema.minItems, schema.maxItems, ' items')
  );
}

function rangeInWords(min: number | undefined, max: number | undefined, unit: string): string | undefined {
  const [from, to] = [min, max].map((limit) => limit?.toLocaleString('en'));
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}`;
  if (to !== undefined) return `at most ${to}${unit}`;
  return from === undefined ? undefined : `at least ${from}${unit}`;
}

/** A value as a reader would type it: texts without quotes, other values as JSON. */
export function literal(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const asCode = (value: unknown) => `\`${literal(value)}\``;

export interface Field {
  /** The path from the outermost object to this field: `data[].` for the id in `data[].id`. */
  holder: string;
  name: string;
  schema: Schema;
  required: boolean;
}

/** All fields of an object, or of the objects in a list, nested ones after the field that holds them. */
export function fieldsOf(schema: Schema, prefix = '', depth = 0): Field[] {
  if (depth > maxDepth) return [];
  const inside = (part: Schema, suffix: string) => fieldsOf(part, prefix + suffix, depth + 1);
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    { holder: prefix && `${prefix}.`, name, schema: property, required: schema.required?.includes(name) ?? false },
    ...fieldsOf(property, prefix ? `${prefix}.${name}` : name, depth + 1),
  ]);
  return [
    ...own,
    ...(schema.items ? inside(schema.items, '[]') : []),
    ...variantsOf(schema).flatMap((variant) => inside(variant, '')),
  ];
}

/** The schema's own example, or one put together from the examples of its parts. */
export function exampleOf(schema: Schema, depth = 0): unknown {
  const given = [schema.examples?.[0], schema.const, schema.default, schema.enum?.[0]];
  const found = given.find((value) => value !== undefined);
  if (found !== undefined) return found;
  const [variant] = variantsOf(schema);
  if (variant) return exampleOf(variant, depth + 1);
  const types = [schema.type ?? []].flat();
  if (types.includes('null') || depth > maxDepth) return null;
  switch (types[0]) {
    case 'object':
      return exampleObject(schema, depth);
    case 'array':
      return schema.items ? [exampleOf(schema.items, depth + 1)] : [];
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return true;
    case 'string':
      return '…';
    default:
      return null;
  }
}

function exampleObject(schema: Schema, depth: number): Record<string, unknown> {
  const { properties = {}, additionalProperties } = schema;
  const fields = Object.entries(properties).map(([name, property]) => [name, exampleOf(property, depth + 1)]);
  if (typeof additionalProperties === 'object') fields.push(['…', exampleOf(additionalProperties, depth + 1)]);
  return Object.fromEntries(fields);
}

function variantsOf(schema: Schema): Schema[] {
  return schema.anyOf ?? schema.oneOf ?? [];
}
