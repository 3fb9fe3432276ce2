/** What callers may send about sources and destinations. */
import Type, { type Static } from 'typebox';
import { Name, Uuid } from '../fields.ts';

const AnyObject = Type.Record(Type.String(), Type.Unknown());

const ValueName = Type.String({ minLength: 1, maxLength: 100 });
const FieldPath = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 10 });

/**
 * An extension of this platform: the configuration lacks the values that a credential provides. `fields` says where in
 * the configuration each value goes when the connector starts. Only this member refers to a credential; no text in a
 * configuration does.
 */
export const ActorCredential = Type.Object(
  {
    id: Uuid,
    fields: Type.Record(ValueName, FieldPath, { minProperties: 1, maxProperties: 30 }),
    hand_over: Type.Optional(Type.Enum(['access_token', 'refresh_token'])),
  },
  { additionalProperties: false },
);
export type ActorCredential = Static<typeof ActorCredential>;

/** Null takes it away. */
const credential = Type.Optional(Type.Union([ActorCredential, Type.Null()]));

/**
 * An extension of this platform: whether all secrets of the configuration are the customer's own. A worker in a customer's network
 * gets no others.
 */
const customersOwn = Type.Optional(Type.Boolean());

export const ActorCreate = Type.Object({
  name: Name,
  workspaceId: Uuid,
  definitionId: Type.Optional(Uuid),
  configuration: AnyObject,
  credential,
  customersOwn,
  resourceAllocation: Type.Optional(AnyObject),
});
export type ActorCreate = Static<typeof ActorCreate>;

export const ActorPatch = Type.Object({
  name: Type.Optional(Name),
  configuration: Type.Optional(AnyObject),
  credential,
  customersOwn,
  resourceAllocation: Type.Optional(AnyObject),
});
export type ActorPatch = Static<typeof ActorPatch>;

export const ActorPut = Type.Object({
  name: Name,
  configuration: AnyObject,
  credential,
  customersOwn,
  resourceAllocation: Type.Optional(AnyObject),
});
export type ActorPut = Static<typeof ActorPut>;

const check = { definitionId: Type.Optional(Uuid), configuration: AnyObject };

/** Without a workspace, the check belongs to an organization, before it has a customer. */
export const SourceCheck = Type.Object({
  ...check,
  workspaceId: Type.Optional(Uuid),
  organizationId: Type.Optional(Uuid),
  /** If the source works, its streams are listed too. */
  listStreams: Type.Optional(Type.Boolean()),
  sourceId: Type.Optional(Uuid),
  credential,
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
> & { manifest?: Record<string, unknown>; credential?: ActorCredential | null; listStreams?: boolean };
