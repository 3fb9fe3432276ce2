/** What operators may send about workers. */
import Type, { type Static } from 'typebox';
import { Uuid } from '../fields.ts';

const word = { type: 'string', pattern: '^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$' } as const;
export type Labels = Record<string, string>;
export const Labels = Type.Unsafe<Labels>({
  type: 'object',
  maxProperties: 20,
  propertyNames: word,
  additionalProperties: word,
});

export const WorkerCreate = Type.Object({
  name: Type.Optional(Type.String({ pattern: '^[^\\p{Cc}\\p{Surrogate}]{1,100}$' })),
  labels: Type.Optional(Labels),
  /** The only workspaces it serves; all by default. */
  workspaceIds: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 1_000 })),
  /** Whether it may get secrets of the operator although it serves only some workspaces. */
  trusted: Type.Optional(Type.Boolean()),
  allowPrivateNetworks: Type.Optional(Type.Boolean()),
  /** Whether any number of machines may join with it until it is revoked: for machines that an autoscaler makes. */
  reusable: Type.Optional(Type.Boolean()),
});
export type WorkerCreate = Static<typeof WorkerCreate>;

export const WorkerDrain = Type.Object({ drain: Type.Optional(Type.Boolean()) });

/** `secret`: what the machine has made for its own token, so that it can repeat a request whose answer was lost. */
export const WorkerJoin = Type.Object({
  token: Type.String({ maxLength: 200 }),
  secret: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  hostname: Type.String({ pattern: '^[A-Za-z0-9._-]{0,64}$' }),
});
