/*
 * How requests are read and failures are told, the same for every route of the platform. It sets nothing on an app by
 * itself; api.ts installs these pieces inside its own encapsulation, so the app around it may differ in all of them.
 */
import { randomUUID } from 'node:crypto';
import { Ajv, type ValidateFunction } from 'ajv';
import type {
  FastifyContextConfig,
  FastifyError,
  FastifyReply,
  FastifyRequest,
  FastifySchemaCompiler,
  FastifyTypeProvider,
} from 'fastify';
import type { Static, TSchema } from 'typebox';
import { isBusy } from '../db/open.ts';
import { OpaqueRefusal, Problem } from '../problems.ts';

/** Gives handlers the types of their route's schemas. */
export interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

type Access = 'public' | 'platform';

/** A route says who may call it. The cast is here because Fastify leaves declaring `access` to the app around us. */
export function access(who: Access): { config: FastifyContextConfig } {
  return { config: { access: who } as FastifyContextConfig };
}

export function isPublic(request: FastifyRequest): boolean {
  return (request.routeOptions.config as { access?: string }).access === 'public';
}

// In a body 5 is not '5'. In a URL everything is text, and a single value may stand for a list of one.
// Keys a schema does not know are dropped only where it says so; a connector's configuration keeps all of them.
const bodies = new Ajv({ removeAdditional: true });
const parameters = new Ajv({ coerceTypes: 'array', useDefaults: true });

export const compileRequestSchema: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const ajv = httpPart === 'body' ? bodies : parameters;
  // With the first request that has it: all of them together are a tenth of a start.
  let compiled: ValidateFunction | undefined;
  return (value: unknown) => {
    compiled ??= ajv.compile(schema);
    if (compiled(value)) return { value };
    return { error: new OpaqueRefusal(400, `${httpPart}: ${ajv.errorsText(compiled.errors)}`) };
  };
};

/** Answers in the platform's own error shapes. The log entry with the same `errorId` holds what the reply leaves out. */
export async function replyToError(thrown: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) {
  const error = isBusy(thrown) ? new Problem('service-unavailable', null, { cause: thrown }) : thrown;
  if (error instanceof Problem) {
    request.log.info({ err: error }, 'platform: request refused');
    if (error.title === 'invalid-api-key') void reply.header('www-authenticate', 'Bearer');
    return reply.code(error.status).send(error.toBody());
  }
  const errorId = randomUUID();
  const status = refusedStatus(error);
  if (status === undefined) request.log.error({ err: error, errorId }, 'platform: request failed');
  else request.log.info({ err: error, errorId }, 'platform: request refused');
  return reply.code(status ?? 500).send({ errorId });
}

/** Undefined for whatever is not the caller's fault. */
function refusedStatus(error: FastifyError | Error): number | undefined {
  if (error instanceof OpaqueRefusal) return error.status;
  if (!('code' in error) || !error.code.startsWith('FST_ERR_CTP_')) return undefined;
  const { statusCode } = error;
  // The framework calls an unreadable body a bad request; in this API it is an unprocessable one.
  return statusCode === 400 ? 422 : statusCode;
}
