/**
 * Checks path, query and body of a request against the schemas of the contract and reports all faults in one answer,
 * in the words of schema-faults.ts.
 */
import type { Fault } from '@inlay/contract/errors';
import type { Format } from '@inlay/contract/text/formats';
import { Ajv, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { addFaults } from '../schema-faults.ts';

type RequestPart = 'path' | 'query' | 'body';

/** The result of the body parser when it could not read the body; see http/body.ts. */
export class UnreadableBody {
  constructor(readonly reason: string) {}
}

/** Adds the faults of a value to the list, and returns the value with defaults filled in. */
type PartValidator = (value: unknown, faults: Fault[]) => unknown;

/** Makes the validator for one part of a request. */
export type PartCompiler = (part: RequestPart, schema: TSchema) => PartValidator;

export function createPartCompiler(formats: Readonly<Record<string, Format>>): PartCompiler {
  // The schemas are our own and checked by tests. Validating them at run time would compile a meta-schema first.
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strict: false,
    useDefaults: true,
    meta: false,
    validateSchema: false,
  });
  for (const [name, { fault }] of Object.entries(formats)) {
    ajv.addFormat(name, { type: 'string', validate: (value: string) => fault(value) === undefined });
  }

  return (part, schema) => {
    const { properties = {} } = schema as { properties?: Record<string, Property> };
    const fields = Object.entries(properties);
    // Compiled with the first request that needs it: compiling all of them doubles the CPU time of a start.
    let compiled: ValidateFunction | undefined;
    return (given, faults) => {
      compiled ??= ajv.compile(schema);
      const validate = compiled;
      if (given instanceof UnreadableBody) {
        faults.push({ loc: [part], msg: given.reason, type: 'value_error.jsondecode' });
        return given;
      }
      if (given === undefined && !validate({})) {
        faults.push({ loc: [part], msg: 'field required', type: 'value_error.missing' });
        return given;
      }
      const value = given === undefined ? {} : given;
      prepare(part, fields, value);
      if (!validate(value)) addFaults(faults, validate.errors ?? [], [part], formats);
      return value;
    };
  };
}

interface Property {
  type?: string;
  format?: string;
}

/** Ids become lower case. Integers of a path or query arrive as text, and a list with one value arrives as that value. */
function prepare(part: RequestPart, properties: [string, Property][], value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const record = value as Record<string, unknown>;
  for (const [name, property] of properties) {
    const present = record[name];
    if (typeof present !== 'string') continue;
    if (property.format === 'uuid') record[name] = present.toLowerCase();
    if (part !== 'body' && property.type === 'integer' && /^-?\d+$/.test(present)) record[name] = Number(present);
    if (part === 'query' && property.type === 'array') record[name] = [present];
  }
}
