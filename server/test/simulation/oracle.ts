/** Says what is wrong after a schedule and enough time for the reconciler. Each check names its invariant. */
import type { Db } from '../../src/kernel/db/open.ts';
import type { WorkspaceRow } from '../../src/kernel/db/tables.ts';
import { nameIdentity } from '../../src/tenancy/workspaces/names.ts';
import type { HostedPlatform } from './hosted-platform.ts';

/** What a client did, and which answer it got. */
export interface Deed {
  kind: 'ensure' | 'rename' | 'status' | 'delete' | 'sync';
  startedAt: number;
  endedAt: number;
  ok: boolean;
  refusal?: string;
  id?: string;
  name?: string;
  status?: 'active' | 'inactive';
}

export interface Evidence {
  db: Db;
  platform: HostedPlatform;
  deeds: Deed[];
  organizationId: string;
  /** Workspaces of another organization. */
  foreign: string[];
}

export async function judge({ db, platform, deeds, organizationId, foreign }: Evidence): Promise<string[]> {
  const violations: string[] = [];
  const rows = await db.selectFrom('workspaces').selectAll().execute();
  const claims = await db.selectFrom('name_claims').selectAll().execute();
  const operations = await db.selectFrom('operations').selectAll().execute();
  const local = new Map(rows.map((row) => [row.id, row]));
  const live = new Map(platform.live().map((workspace) => [workspace.id, workspace]));
  const deletedThere = (id: string) => platform.workspaces.get(id)?.versions.at(-1)?.deleted === true;

  // I1: at most one live workspace of ours per name.
  const ofName = new Map<string, string[]>();
  for (const { id, name, ours } of live.values()) {
    if (!ours) continue;
    const key = nameIdentity(name);
    ofName.set(key, [...(ofName.get(key) ?? []), id]);
  }
  for (const [name, ids] of ofName)
    if (ids.length > 1) violations.push(`I1: ${ids.length} workspaces of ours are called ${name}`);

  // I2: every bound claim belongs to a workspace that is live on both sides, unless someone else deleted it.
  for (const claim of claims) {
    const row = claim.workspace_id === null ? undefined : local.get(claim.workspace_id);
    if (!row) violations.push(`I2: the claim on ${claim.name} is left unbound`);
    else if (row.lifecycle !== 'live') violations.push(`I2: ${claim.name} leads to a ${row.lifecycle} workspace`);
    else if (!live.has(row.id) && platform.workspaces.get(row.id)?.ours)
      violations.push(`I2: ${claim.name} is gone there`);
  }
  for (const claim of claims) {
    const row = local.get(claim.workspace_id ?? '');
    // A name that someone gave directly on the platform is bound beside the old name; with our own renames the old one
    // goes.
    if (row && platform.workspaces.get(row.id)?.ours && claim.name !== nameIdentity(row.name)) {
      violations.push(`I2: ${claim.name} leads to ${row.id}, which is called ${row.name}`);
    }
  }
  // The outcome of every create is known here, even if its answer was lost and someone else's workspace got the name.
  for (const { name, no_post_before } of claims) {
    if (no_post_before > 0) violations.push(`I2: nobody has looked for the outcome of a create of ${name}`);
  }
  for (const { id, ours, name } of live.values()) {
    if (ours && local.get(id)?.lifecycle !== 'live') {
      violations.push(`I2: ${name} (${id}) lives there and is ${local.get(id)?.lifecycle} here`);
    }
  }
  // The name of a workspace is claimed, so that no rename takes it.
  const claimed = new Set(claims.map(({ name }) => name));
  for (const { id, name, lifecycle } of rows) {
    if (lifecycle === 'live' && !claimed.has(nameIdentity(name)))
      violations.push(`I2: ${name} (${id}) is called by a name that nobody has claimed`);
  }

  // I3: what is deleted stays deleted.
  for (const deed of deeds) {
    if (deed.kind !== 'delete' || !deed.ok || deed.id === undefined) continue;
    if (local.get(deed.id)?.lifecycle !== 'deleted') violations.push(`I3: ${deed.id} was deleted and is back`);
    if (!deletedThere(deed.id)) violations.push(`I3: ${deed.id} was deleted and lives on the platform`);
    const later = deeds.find(
      (other) => other.kind === 'ensure' && other.ok && other.id === deed.id && other.startedAt > deed.endedAt,
    );
    if (later) violations.push(`I3: a token was issued for ${deed.id} after its deletion`);
  }

  // I4: nothing stays open.
  for (const { kind, workspace_id, last_error } of operations) {
    violations.push(`I4: ${kind} of ${workspace_id} is still open (${last_error})`);
  }

  // I5: an inactive workspace has no active connection.
  for (const { workspaceId, active, id } of platform.connections.values()) {
    const row = local.get(workspaceId);
    if (active && row?.lifecycle === 'live' && row.status === 'inactive') {
      violations.push(`I5: connection ${id} of the inactive workspace ${workspaceId} is active`);
    }
  }

  const paused = await db.selectFrom('paused_connections').selectAll().execute();
  for (const { workspace_id, connection_id } of paused) {
    if (local.get(workspace_id)?.status === 'active')
      violations.push(`I5: ${connection_id} was not enabled with its workspace`);
  }

  // I6: a name belongs to the same workspace as long as the workspace exists and has that name.
  for (const later of deeds) {
    if (later.kind !== 'ensure' || !later.ok || later.name === undefined) continue;
    for (const earlier of deeds) {
      if (earlier.kind !== 'ensure' || !earlier.ok || earlier.name === undefined || earlier.id === later.id) continue;
      if (nameIdentity(earlier.name) !== nameIdentity(later.name) || earlier.endedAt >= later.startedAt) continue;
      const parted = deeds.some(
        (deed) =>
          deed.id === earlier.id &&
          (deed.kind === 'delete' || deed.kind === 'rename') &&
          deed.startedAt <= later.endedAt,
      );
      const changedThere = platform.workspaces.get(earlier.id ?? '')?.ours === false;
      if (!parted && !changedThere) violations.push(`I6: ${later.name} led to ${earlier.id} and then to ${later.id}`);
    }
  }

  // I6: what an answer said is true.
  for (const deed of deeds) {
    if (!deed.ok || deed.id === undefined) continue;
    const row = local.get(deed.id);
    if (!row) violations.push(`I6: ${deed.kind} succeeded for ${deed.id}, which does not exist`);
    else if (row.lifecycle === 'live' && isLast(deed, deeds)) {
      if (deed.kind === 'rename' && row.name !== deed.name && !renamedBySomebodyElse(platform, deed)) {
        violations.push(`I6: ${deed.id} was renamed to ${deed.name} and is called ${row.name}`);
      }
      if (deed.kind === 'status' && row.status !== deed.status)
        violations.push(`I6: ${deed.id} is ${row.status}, not ${deed.status}`);
    }
  }
  for (const row of rows) {
    const there = live.get(row.id);
    if (row.lifecycle === 'live' && there?.ours && there.name !== row.name) {
      violations.push(`I6: ${row.id} is called ${row.name} here and ${there.name} there`);
    }
  }

  // I7: nobody else's workspace is changed.
  for (const id of platform.touched) {
    if (foreign.includes(id) || local.get(id)?.organization_id !== organizationId)
      violations.push(`I7: ${id} is not ours, and we changed it`);
  }
  violations.push(...(await judgeEntries(db, rows)));
  return violations;
}

/** I11: for every change exactly one entry, for every entry its change. The entries of a workspace cover its whole life. */
async function judgeEntries(db: Db, rows: readonly WorkspaceRow[]): Promise<string[]> {
  const violations: string[] = [];
  const entries = await db.selectFrom('log_pending').selectAll().orderBy('number').execute();
  const ofWorkspace = new Map<string, typeof entries>();
  for (const entry of entries) {
    const id = entry.workspace_id ?? '';
    ofWorkspace.set(id, [...(ofWorkspace.get(id) ?? []), entry]);
  }
  for (const { id, name, status, lifecycle } of rows) {
    const own = ofWorkspace.get(id) ?? [];
    ofWorkspace.delete(id);
    // A duplicate of ours that was deleted in the transaction that recorded it was never seen.
    if (own.length === 0 && lifecycle === 'deleted') continue;
    let told: { name: string | null; status: string; lifecycle: string } | undefined;
    for (const { type, workspace_name, data } of own) {
      const isNew = type === 'workspace.created' || type === 'workspace.adopted';
      if (isNew !== (told === undefined)) violations.push(`I11: ${id} has ${type} at the wrong time`);
      told ??= { name: workspace_name, status: 'active', lifecycle: 'live' };
      if (told.lifecycle === 'deleted') violations.push(`I11: ${id} has ${type} after its deletion`);
      if (type === 'workspace.renamed') {
        const { previous_name: before } = JSON.parse(data);
        if (before !== told.name) violations.push(`I11: ${id} was renamed from ${before}, and was called ${told.name}`);
        told.name = workspace_name;
      }
      if (type === 'workspace.activated' || type === 'workspace.deactivated') {
        const next = type === 'workspace.activated' ? 'active' : 'inactive';
        if (told.status === next) violations.push(`I11: ${id} has ${type} twice`);
        told.status = next;
      }
      if (type === 'workspace.deletion_requested') told.lifecycle = 'deleting';
      if (type === 'workspace.deleted') told.lifecycle = 'deleted';
    }
    const is = `${name} ${status} ${lifecycle}`;
    const said = told && `${told.name} ${told.status} ${told.lifecycle}`;
    if (said !== is) violations.push(`I11: ${id} is ${is}, and its entries say ${said}`);
  }
  for (const id of ofWorkspace.keys()) violations.push(`I11: there are entries of ${id}, which does not exist`);
  return violations;
}

/** No other change of the same kind was under way at the same time or later, nor a deletion. */
function isLast(deed: Deed, deeds: Deed[]): boolean {
  return !deeds.some(
    (other) =>
      other !== deed &&
      other.id === deed.id &&
      (other.kind === deed.kind || other.kind === 'delete') &&
      other.endedAt >= deed.startedAt,
  );
}

function renamedBySomebodyElse(platform: HostedPlatform, deed: Deed): boolean {
  return platform.workspaces.get(deed.id ?? '')?.ours === false;
}
