/**
 * Checks path, query and body of a request against the schemas of the contract and reports all faults in one answer,
 * in the literals that existing clients match on. One fault a location: the first that applies.
 */
import type { Fault } from '@inlay/contract/errors';
import type { Format } from '@inlay/contract/formats';
import { Ajv, type ErrorObject } from 'ajv';
import type { TSchema } from 'typebox';

export type RequestPart = 'path' | 'query' | 'body';

/** What the body parser hands over when it could not read the body; see http/body.ts. */
export class UnreadableBody {
  constructor(readonly reason: string) {}
}

/** More faults than this help nobody, and would let a small request cause a huge answer. */
const maxFaults = 100;

/** Adds the faults of a value to the list, and returns the value with defaults filled in. */
export type PartValidator = (value: unknown, faults: Fault[]) => unknown;

/** Compiles the schema of one part of a request. */
export type PartCompiler = (part: RequestPart, schema: TSchema) => PartValidator;

export function createPartCompiler(formats: Readonly<Record<string, Format>>): PartCompiler {
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, useDefaults: true });
  for (const [name, { fault }] of Object.entries(formats)) {
    ajv.addFormat(name, { type: 'string', validate: (value: string) => fault(value) === undefined });
  }

  return (part, schema) => {
    const validate = ajv.compile(schema);
    const { properties = {}, required = [] } = schema as { properties?: Record<string, Property>; required?: string[] };
    const fields = Object.entries(properties);
    return (given, faults) => {
      if (given instanceof UnreadableBody) {
        faults.push({ loc: [part], msg: given.reason, type: 'value_error.jsondecode' });
        return given;
      }
      if (given === undefined && required.length > 0) {
        faults.push({ loc: [part], msg: 'field required', type: 'value_error.missing' });
        return given;
      }
      const value = given === undefined ? {} : given;
      prepare(part, fields, value);
      if (validate(value)) return value;
      const seen = new Set<string>();
      for (const error of validate.errors ?? []) {
        const fault = toFault(part, error, formats);
        const place = fault.loc.join('\0');
        if (seen.has(place) || faults.length >= maxFaults) continue;
        seen.add(place);
        faults.push(fault);
      }
      return value;
    };
  };
}

interface Property {
  type?: string;
  format?: string;
}

/** Ids are compared in lower case; integers of a query arrive as text. */
function prepare(part: RequestPart, properties: [string, Property][], value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const record = value as Record<string, unknown>;
  for (const [name, property] of properties) {
    const present = record[name];
    if (typeof present !== 'string') continue;
    if (property.format === 'uuid') record[name] = present.toLowerCase();
    if (part === 'query' && property.type === 'integer' && /^-?\d+$/.test(present)) record[name] = Number(present);
  }
}

const typeFaults: Record<string, [msg: string, type: string]> = {
  string: ['str type expected', 'type_error.str'],
  integer: ['value is not a valid integer', 'type_error.integer'],
  array: ['value is not a valid list', 'type_error.list'],
  object: ['value is not a valid dict', 'type_error.dict'],
};

function toFault(part: RequestPart, error: ErrorObject, formats: Readonly<Record<string, Format>>): Fault {
  const place = error.instancePath.split('/').slice(1).map(unescapePointer);
  const fault = (msg: string, type: string): Fault => ({ loc: [part, ...place], msg, type });
  const schema = (error.parentSchema ?? {}) as { enum?: string[]; format?: string };

  if (error.keyword === 'required') {
    const { missingProperty } = error.params as { missingProperty: string };
    return { loc: [part, ...place, missingProperty], msg: 'field required', type: 'value_error.missing' };
  }
  if (error.data === null) return fault('none is not an allowed value', 'type_error.none.not_allowed');

  // A format speaks first: whatever is not a UUID is told so, be it a number or a text outside the enumeration.
  const format = schema.format === undefined ? undefined : formats[schema.format];
  if (schema.format === 'uuid' && typeof error.data !== 'string') {
    return fault('value is not a valid uuid', 'type_error.uuid');
  }
  const formatFault = typeof error.data === 'string' ? format?.fault(error.data) : undefined;
  if (format && formatFault !== undefined) return fault(formatFault, format.type);

  if (schema.enum) {
    const permitted = schema.enum.map((member) => `'${member}'`).join(', ');
    return fault(`value is not a valid enumeration member; permitted: ${permitted}`, 'type_error.enum');
  }
  switch (error.keyword) {
    case 'type': {
      const expected = typeFaults[(error.params as { type: string }).type];
      return expected ? fault(...expected) : fault(`value is not of type ${error.schema}`, 'type_error');
    }
    case 'maximum':
      return fault(`ensure this value is less than or equal to ${error.schema}`, 'value_error.number.not_le');
    case 'minimum':
      return fault(`ensure this value is greater than or equal to ${error.schema}`, 'value_error.number.not_ge');
    case 'maxItems':
      return fault(`ensure this value has at most ${error.schema} items`, 'value_error.list.max_items');
  }
  if (error.keyword === 'maxLength') {
    return fault(`ensure this value has at most ${error.schema} characters`, 'value_error.any_str.max_length');
  }
  return fault(`the value ${error.message ?? 'is not accepted'}`, 'value_error');
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
