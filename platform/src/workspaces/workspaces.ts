/*
 * Workspaces and the organizations they belong to.
 *
 * Always true: a name is kept exactly as it was sent, and any number of workspaces may share one, since callers tell
 * them apart by id. A deleted workspace is never found again except in a list that names its id. What is inside a
 * workspace, and what deleting it takes along, is left to connectors.ts, connections.ts and deletion.ts.
 */
import Type, { type Static } from 'typebox';
import type { Platform } from '../context.ts';
import type { Store, WorkspaceRow } from '../db/open.ts';
import { isListed, Uuid, type WorkspaceListQuery } from '../http/paging.ts';
import { Problem, resourceNotFound } from '../problems.ts';

/** Half a surrogate pair has no UTF-8 form: the file could not give it back as it was sent. */
export const Name = Type.String({ minLength: 1, pattern: '^\\P{Surrogate}*$' });

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
type Channel = Static<typeof Channel>;

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
type Notifications = Static<typeof Notifications>;

export const WorkspacePatch = Type.Object({
  name: Type.Optional(Name),
  regionId: Type.Optional(Uuid),
  notifications: Type.Optional(Notifications),
});
export type WorkspacePatch = Static<typeof WorkspacePatch>;

export const WorkspaceCreate = Type.Object({
  name: Name,
  organizationId: Type.Optional(Uuid),
  regionId: Type.Optional(Uuid),
  notifications: Type.Optional(Notifications),
});
export type WorkspaceCreate = Static<typeof WorkspaceCreate>;

const US_REGION_ID = '645a183f-b12b-4c6e-8ad3-99e165603450';
const residencyByRegionId = new Map([
  [US_REGION_ID, 'us'],
  ['b9e48d61-f082-4a14-a8d0-799a907938cb', 'eu'],
]);

const defaultNotifications: Notifications = {
  failure: { email: { enabled: true } },
  success: { email: { enabled: false } },
  connectionUpdate: { email: { enabled: true } },
  connectionUpdateActionRequired: { email: { enabled: true } },
  syncDisabled: { email: { enabled: true } },
  syncDisabledWarning: { email: { enabled: true } },
};

export async function createWorkspace(platform: Platform, request: WorkspaceCreate): Promise<WorkspaceRow> {
  const organizationId = request.organizationId?.toLowerCase() ?? platform.defaultOrganizationId;
  const createdAt = platform.now();
  const workspace = {
    workspace_id: platform.newId(),
    organization_id: organizationId,
    name: request.name,
    name_nfc: request.name.normalize('NFC'),
    data_residency: residencyOf(request.regionId ?? US_REGION_ID),
    notifications: JSON.stringify(mergeNotifications(defaultNotifications, request.notifications)),
    created_at: createdAt,
    deleted_at: null,
  };
  return platform.store.transaction().execute(async (trx) => {
    // The service in front decides who the organizations are, so one comes into being with its first workspace.
    await trx
      .insertInto('organizations')
      .values({ organization_id: organizationId, created_at: createdAt })
      .onConflict((conflict) => conflict.column('organization_id').doNothing())
      .execute();
    return trx.insertInto('workspaces').values(workspace).returningAll().executeTakeFirstOrThrow();
  });
}

export async function listWorkspaces({ store }: Platform, query: WorkspaceListQuery): Promise<WorkspaceRow[]> {
  let rows = store.selectFrom('workspaces').selectAll().where(isListed(query));
  if (query.name !== undefined) rows = rows.where('name_nfc', '=', query.name.normalize('NFC'));
  if (query.organizationId !== undefined) rows = rows.where('organization_id', '=', query.organizationId.toLowerCase());
  return rows.orderBy('seq').limit(query.limit).offset(query.offset).execute();
}

export async function getWorkspace(store: Store, workspaceId: string): Promise<WorkspaceRow> {
  const workspace = await store
    .selectFrom('workspaces')
    .selectAll()
    .where('workspace_id', '=', workspaceId.toLowerCase())
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!workspace) throw resourceNotFound('workspace', workspaceId);
  return workspace;
}

export async function patchWorkspace(platform: Platform, workspaceId: string, patch: WorkspacePatch) {
  return platform.store.transaction().execute(async (trx) => {
    const workspace = await getWorkspace(trx, workspaceId);
    const name = patch.name ?? workspace.name;
    return trx
      .updateTable('workspaces')
      .set({
        name,
        name_nfc: name.normalize('NFC'),
        data_residency: patch.regionId === undefined ? workspace.data_residency : residencyOf(patch.regionId),
        notifications: JSON.stringify(mergeNotifications(JSON.parse(workspace.notifications), patch.notifications)),
      })
      .where('workspace_id', '=', workspace.workspace_id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

/** `organizationId` and `createdAt` are additions of this platform. */
export function showWorkspace(workspace: WorkspaceRow) {
  return {
    workspaceId: workspace.workspace_id,
    name: workspace.name,
    dataResidency: workspace.data_residency,
    notifications: JSON.parse(workspace.notifications) as Notifications,
    organizationId: workspace.organization_id,
    createdAt: Math.floor(workspace.created_at / 1000),
  };
}

/** Nobody tells this platform what an organization is called, so its id serves as its name. */
export async function listOrganizations({ store }: Platform) {
  const organizations = await store.selectFrom('organizations').select('organization_id').orderBy('seq').execute();
  return organizations.map(({ organization_id }) => ({
    organizationId: organization_id,
    organizationName: organization_id,
    email: '',
  }));
}

function residencyOf(regionId: string): string {
  const residency = residencyByRegionId.get(regionId.toLowerCase());
  if (residency === undefined) throw new Problem('forbidden', { message: `The region ${regionId} is not available.` });
  return residency;
}

function mergeNotifications(stored: Notifications, changes: Notifications = {}): Notifications {
  const merged = { ...stored };
  for (const [kind, change] of Object.entries(changes) as [keyof Notifications, Channel][]) {
    const { email, webhook } = stored[kind] ?? {};
    merged[kind] = {
      ...((email || change.email) && { email: { ...email, ...change.email } }),
      ...((webhook || change.webhook) && { webhook: { ...webhook, ...change.webhook } }),
    };
  }
  return merged;
}
