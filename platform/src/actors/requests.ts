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

const check = { workspaceId: Uuid, definitionId: Type.Optional(Uuid), configuration: AnyObject };
const Check = Type.Object(check);
export type CheckRequest = Static<typeof Check>;

export const SourceCheck = Type.Object({ ...check, sourceId: Type.Optional(Uuid) });
export const DestinationCheck = Type.Object({ ...check, destinationId: Type.Optional(Uuid) });
