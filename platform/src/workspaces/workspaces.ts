/**
 * Workspaces and the organizations they belong to.
 *
 * Invariants: a name is kept exactly as sent, and any number of workspaces may share one, since callers distinguish
 * them by id. A deleted workspace is found only in a list that names its id. A deletion is one transaction with one
 * timestamp on every row, so partial changes are never visible. actors/ and connections/ own what is inside a
 * workspace.
 */
import type { Db } from '../db/open.ts';
import type { WorkspaceRow } from '../db/tables.ts';
import { Problem, resourceNotFound } from '../problems.ts';
import type { WorkspacesContext } from './context.ts';
import type {
  Channel,
  Notifications,
  WorkspaceCreate,
  WorkspaceLimits,
  WorkspaceListQuery,
  WorkspacePatch,
  WorkspacePlacement,
} from './requests.ts';
import * as workspaces from './workspaces.store.ts';

const usRegionId = '645a183f-b12b-4c6e-8ad3-99e165603450';
const residencyByRegionId = new Map([
  [usRegionId, 'us'],
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

export async function createWorkspace(ctx: WorkspacesContext, request: WorkspaceCreate): Promise<WorkspaceRow> {
  const organizationId = request.organizationId?.toLowerCase() ?? ctx.defaultOrganizationId;
  const createdAt = ctx.runtime.now();
  const workspace = {
    workspace_id: ctx.runtime.newId(),
    name: request.name,
    name_nfc: request.name.normalize('NFC'),
    data_residency: residencyOf(request.regionId ?? usRegionId),
    notifications: JSON.stringify(mergeNotifications(defaultNotifications, request.notifications)),
    max_concurrent_syncs: null,
    worker_labels: null,
    created_at: createdAt,
    deleted_at: null,
  };
  return await ctx.store.transaction(async (tx) => {
    // The service in front decides who the organizations are, so one comes into being with its first workspace.
    await workspaces.ensureOrganization(tx, organizationId, createdAt);
    return await workspaces.insertWorkspace(tx, organizationId, workspace);
  });
}

export async function listWorkspaces(ctx: WorkspacesContext, query: WorkspaceListQuery): Promise<WorkspaceRow[]> {
  return await workspaces.listWorkspaces(ctx.store.db, query);
}

export async function getWorkspace(db: Db, workspaceId: string): Promise<WorkspaceRow> {
  const workspace = await workspaces.findWorkspace(db, workspaceId.toLowerCase());
  if (!workspace) throw resourceNotFound('workspace', workspaceId);
  return workspace;
}

export async function patchWorkspace(
  ctx: WorkspacesContext,
  workspaceId: string,
  patch: WorkspacePatch,
): Promise<WorkspaceRow> {
  return await ctx.store.transaction(async (tx) => {
    const workspace = await getWorkspace(tx, workspaceId);
    const name = patch.name ?? workspace.name;
    return await workspaces.updateWorkspace(tx, workspace.workspace_id, {
      name,
      name_nfc: name.normalize('NFC'),
      data_residency: patch.regionId === undefined ? workspace.data_residency : residencyOf(patch.regionId),
      notifications: JSON.stringify(mergeNotifications(JSON.parse(workspace.notifications), patch.notifications)),
    });
  });
}

/** A lower limit stops nothing that runs. */
export async function setLimits(
  ctx: WorkspacesContext,
  workspaceId: string,
  limits: WorkspaceLimits,
): Promise<WorkspaceLimits> {
  await ctx.store.transaction(async (tx) => {
    const { workspace_id } = await getWorkspace(tx, workspaceId);
    await workspaces.updateLimits(tx, workspace_id, limits.maxConcurrentSyncs);
  });
  ctx.wake();
  return limits;
}

/** Applies to what starts from now on. */
export async function setPlacement(
  ctx: WorkspacesContext,
  workspaceId: string,
  { labels }: WorkspacePlacement,
): Promise<WorkspacePlacement> {
  await ctx.store.transaction(async (tx) => {
    const { workspace_id } = await getWorkspace(tx, workspaceId);
    await workspaces.updatePlacement(tx, workspace_id, labels && JSON.stringify(labels));
  });
  ctx.wake();
  return { labels };
}

export async function getPlacement({ store }: WorkspacesContext, workspaceId: string): Promise<WorkspacePlacement> {
  const { worker_labels } = await getWorkspace(store.db, workspaceId);
  return { labels: worker_labels === null ? null : JSON.parse(worker_labels) };
}

/** Deletes everything inside the workspace too. Rows stay as tombstones. */
export async function deleteWorkspace(ctx: WorkspacesContext, workspaceId: string): Promise<void> {
  const deletedAt = ctx.runtime.now();
  await ctx.store.transaction(async (tx) => {
    const { workspace_id } = await getWorkspace(tx, workspaceId);
    await ctx.recordContentsDeleted(tx, workspace_id, deletedAt);
    await workspaces.recordWorkspaceDeleted(tx, workspace_id, deletedAt);
  });
  ctx.wake();
}

/** `organizationId` and `createdAt` are additions of this platform. */
export function presentWorkspace(workspace: WorkspaceRow) {
  return {
    workspaceId: workspace.workspace_id,
    name: workspace.name,
    dataResidency: workspace.data_residency,
    notifications: JSON.parse(workspace.notifications) as Notifications,
    organizationId: workspace.organization_id,
    createdAt: Math.floor(workspace.created_at / 1000),
  };
}

/** The platform does not know organization names, so the id serves as the name. */
export async function listOrganizations(ctx: WorkspacesContext) {
  const ids = await workspaces.listOrganizationIds(ctx.store.db);
  return ids.map((id) => ({ organizationId: id, organizationName: id, email: '' }));
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
