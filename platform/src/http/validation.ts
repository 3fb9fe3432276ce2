/** Checks each part of a request against the schema of its route. */
import { Ajv, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { OpaqueRefusal } from '../problems.ts';

// In a body 5 is not '5'. In a URL everything is text, and a single value may stand for a list of one.
// Keys a schema does not know are dropped only where it says so; a connector's configuration keeps all of them.
// The schemas are our own and checked by tests. To check them at run time, a schema of schemas is compiled first.
const trusted = { meta: false, validateSchema: false } as const;
const bodies = new Ajv({ ...trusted, removeAdditional: true });
const parameters = new Ajv({ ...trusted, coerceTypes: 'array', useDefaults: true });

export const compileRequestSchema: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const ajv = httpPart === 'body' ? bodies : parameters;
  // Compiled with the first request that needs it: all of them together are a tenth of the start-up time.
  let compiled: ValidateFunction | undefined;
  return (value: unknown) => {
    compiled ??= ajv.compile(schema);
    if (compiled(value)) return { value };
    return { error: new OpaqueRefusal(400, `${httpPart}: ${ajv.errorsText(compiled.errors)}`) };
  };
};
