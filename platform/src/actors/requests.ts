/** What callers may send about sources and destinations. */
import Type, { type Static } from 'typebox';
import { Name, Uuid } from '../fields.ts';

const AnyObject = Type.Record(Type.String(), Type.Unknown());

export const ActorCreate = Type.Object({
  name: Name,
  workspaceId: Uuid,
  definitionId: Type.Optional(Uuid),
  configuration: AnyObject,
  resourceAllocation: Type.Optional(AnyObject),
});
export type ActorCreate = Static<typeof ActorCreate>;

export const ActorPatch = Type.Object({
  name: Type.Optional(Name),
  configuration: Type.Optional(AnyObject),
  resourceAllocation: Type.Optional(AnyObject),
});
export type ActorPatch = Static<typeof ActorPatch>;

export const ActorPut = Type.Object({
  name: Name,
  configuration: AnyObject,
  resourceAllocation: Type.Optional(AnyObject),
});
export type ActorPut = Static<typeof ActorPut>;

const check = { definitionId: Type.Optional(Uuid), configuration: AnyObject };

export const SourceCheck = Type.Object({
  ...check,
  workspaceId: Uuid,
  sourceId: Type.Optional(Uuid),
  /** Instead of a definition: a manifest that nobody has yet. */
  manifest: Type.Optional(AnyObject),
});
/** Without a workspace it is a check of an organization: of a destination that many workspaces are to have. */
export const DestinationCheck = Type.Object({
  ...check,
  workspaceId: Type.Optional(Uuid),
  organizationId: Type.Optional(Uuid),
  destinationId: Type.Optional(Uuid),
});
export type CheckRequest = Pick<
  Static<typeof DestinationCheck>,
  keyof typeof check | 'workspaceId' | 'organizationId'
> & { manifest?: Record<string, unknown> };
