/** What callers may send about workspaces. */
import Type, { type Static } from 'typebox';
import { Labels, listParameters, Name, Text, Uuid } from '../fields.ts';

const Channel = Type.Object(
  {
    email: Type.Optional(Type.Object({ enabled: Type.Optional(Type.Boolean()) }, { additionalProperties: false })),
    webhook: Type.Optional(
      Type.Object(
        { enabled: Type.Optional(Type.Boolean()), url: Type.Optional(Type.String()) },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type Channel = Static<typeof Channel>;

const Notifications = Type.Object(
  {
    failure: Type.Optional(Channel),
    success: Type.Optional(Channel),
    connectionUpdate: Type.Optional(Channel),
    connectionUpdateActionRequired: Type.Optional(Channel),
    syncDisabled: Type.Optional(Channel),
    syncDisabledWarning: Type.Optional(Channel),
  },
  { additionalProperties: false },
);
export type Notifications = Static<typeof Notifications>;

export const WorkspacePatch = Type.Object({
  name: Type.Optional(Name),
  regionId: Type.Optional(Uuid),
  notifications: Type.Optional(Notifications),
});
export type WorkspacePatch = Static<typeof WorkspacePatch>;

/** An addition of this platform. Null: what the settings allow to every workspace. */
export const WorkspaceLimits = Type.Object({
  maxConcurrentSyncs: Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1 }),
});
export type WorkspaceLimits = Static<typeof WorkspaceLimits>;

/** An addition of this platform: what a worker must be to run something of the workspace. Null: it runs anywhere. */
export const WorkspacePlacement = Type.Object({ labels: Type.Union([Labels, Type.Null()]) });
export type WorkspacePlacement = Static<typeof WorkspacePlacement>;

export const WorkspaceCreate = Type.Object({
  name: Name,
  organizationId: Type.Optional(Uuid),
  regionId: Type.Optional(Uuid),
  notifications: Type.Optional(Notifications),
});
export type WorkspaceCreate = Static<typeof WorkspaceCreate>;

/** `name` and `organizationId` are additions of this platform. */
export const WorkspaceListQuery = Type.Object({
  ...listParameters,
  name: Type.Optional(Text),
  organizationId: Type.Optional(Uuid),
});
export type WorkspaceListQuery = Static<typeof WorkspaceListQuery>;
