/** What operators may send about workers. */
import Type, { type Static } from 'typebox';
import { Labels, Uuid } from '../fields.ts';

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
