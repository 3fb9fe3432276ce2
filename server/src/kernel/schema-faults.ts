/**
 * Writes the faults that a validator found in the exact texts that existing clients compare with. Used for requests and
 * for the configurations inside them. A message names rules, never values: a value may be a secret.
 */
import type { Fault, FaultType } from '@inlay/contract/errors';
import type { Format } from '@inlay/contract/text/formats';
import type { ErrorObject } from 'ajv';

/** More faults than this help nobody, and would let a small request cause a huge answer. */
export const maxFaults = 100;

/**
 * Adds one fault for each location, the first that applies. `at` is the place of the validated value in the request.
 */
export function addFaults(
  faults: Fault[],
  errors: readonly ErrorObject[],
  at: readonly string[],
  formats: Readonly<Record<string, Format>> = {},
): void {
  const seen = new Set<string>();
  for (const error of errors) {
    // This error only says which of two branches applied. What that branch asks for has its own errors.
    if (error.keyword === 'if') continue;
    const fault = faultOf(error, at, formats);
    const place = fault.loc.join('\0');
    if (seen.has(place) || faults.length >= maxFaults) continue;
    seen.add(place);
    faults.push(fault);
  }
}

const typeFaults: Record<string, [msg: string, type: FaultType]> = {
  string: ['str type expected', 'type_error.str'],
  integer: ['value is not a valid integer', 'type_error.integer'],
  number: ['value is not a valid float', 'type_error.float'],
  boolean: ['value could not be parsed to a boolean', 'type_error.bool'],
  array: ['value is not a valid list', 'type_error.list'],
  object: ['value is not a valid dict', 'type_error.dict'],
};

interface FaultySchema {
  enum?: unknown[];
  format?: string;
  pattern_descriptor?: unknown;
  oneOf?: { properties: Record<string, { const?: unknown; enum?: unknown[] }> }[];
}

function faultOf(error: ErrorObject, at: readonly string[], formats: Readonly<Record<string, Format>>): Fault {
  const place = error.instancePath.split('/').slice(1).map(unescapePointer);
  const fault = (msg: string, type: FaultType): Fault => ({ loc: [...at, ...place], msg, type });
  const missing = (name: string): Fault => ({
    loc: [...at, ...place, name],
    msg: 'field required',
    type: 'value_error.missing',
  });
  const schema = (error.parentSchema ?? {}) as FaultySchema;

  if (error.keyword === 'required') return missing((error.params as { missingProperty: string }).missingProperty);
  if (error.keyword === 'discriminator') {
    const { tag, tagValue } = error.params as { tag: string; tagValue: unknown };
    // A function is what every object has under the name, such as `constructor`.
    if (tagValue === undefined || typeof tagValue === 'function') return missing(tag);
    const members = (schema.oneOf ?? []).map(({ properties }) => properties[tag]?.const ?? properties[tag]?.enum?.[0]);
    return { ...notAMember(members, fault), loc: [...at, ...place, tag] };
  }
  if (error.data === null) return fault('none is not an allowed value', 'type_error.none.not_allowed');

  // The format comes first: a value that is not a UUID gets that message, whether it is a number or a text outside the
  // enum.
  const name = schema.format;
  const format = name !== undefined && Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (format && schema.format === 'uuid' && typeof error.data !== 'string') {
    return fault('value is not a valid uuid', 'type_error.uuid');
  }
  const formatFault = typeof error.data === 'string' ? format?.fault(error.data) : undefined;
  if (format && formatFault !== undefined) return fault(formatFault, format.type);

  if (schema.enum) return notAMember(schema.enum, fault);
  const limit = String(error.schema);
  switch (error.keyword) {
    case 'type': {
      const [expected = ''] = [(error.params as { type: string | string[] }).type].flat().filter((of) => of !== 'null');
      const known = typeFaults[expected];
      return known ? fault(...known) : fault(`value is not of type ${limit}`, 'type_error');
    }
    case 'maximum':
      return fault(`ensure this value is less than or equal to ${limit}`, 'value_error.number.not_le');
    case 'minimum':
      return fault(`ensure this value is greater than or equal to ${limit}`, 'value_error.number.not_ge');
    case 'maxItems':
      return fault(`ensure this value has at most ${limit} items`, 'value_error.list.max_items');
    case 'minItems':
      return fault(`ensure this value has at least ${limit} items`, 'value_error.list.min_items');
    case 'maxLength':
      return fault(`ensure this value has at most ${limit} characters`, 'value_error.any_str.max_length');
    case 'minLength':
      return fault(`ensure this value has at least ${limit} characters`, 'value_error.any_str.min_length');
    case 'pattern': {
      const form = typeof schema.pattern_descriptor === 'string' ? schema.pattern_descriptor : limit;
      return fault(`the value must match ${form}`, 'value_error.str.regex');
    }
    case 'oneOf':
    case 'anyOf':
      return fault('the value matches none of the accepted forms', 'value_error');
  }
  return fault(`the value ${error.message ?? 'is not accepted'}`, 'value_error');
}

function notAMember(members: unknown[], fault: (msg: string, type: FaultType) => Fault): Fault {
  const permitted = members.map((member) => `'${member}'`).join(', ');
  return fault(`value is not a valid enumeration member; permitted: ${permitted}`, 'type_error.enum');
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
