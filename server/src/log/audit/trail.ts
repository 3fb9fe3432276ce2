/**
 * The audit trail for readers: every entry of the log, events and audit-only entries, with actor, origin and outcome.
 * Operators read everything of their organization. Customers read what concerns their workspace.
 *
 * Customers get entries about their own workspace whose type is meant for customers, and every entry that a token of
 * the workspace caused. Actions of an operator appear as "operator", without token, address, request or patch. For
 * actions of the workspace's own tokens, customers see all of these.
 */
import type {
  AuditCheckpointList,
  AuditErasure,
  AuditErasureRequest,
  AuditEvent,
  OwnAuditEvent,
} from '@inlay/contract/log/audit';
import { actorKinds } from '../../kernel/cause.ts';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { LogPersonalRow } from '../../kernel/db/tables.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import { customerTypes, entryTypes, matchingTypes } from '../events/catalogue.ts';
import { chainedEntry, genesisHash, type PersonalField } from '../events/chain.ts';
import { dataOf } from '../events/events.ts';
import type { Journal } from '../events/journal.ts';
import type { PatchOperation } from '../events/json-patch.ts';
import { readOwnKeys } from './audit-keys.ts';
import { presentCheckpoint } from './checkpoints.ts';
import { writePositions } from './erasures.ts';
import * as trail from './trail.store.ts';

export interface AuditContext {
  store: Store;
  journal: Journal;
}

/** Who reads, and which entries. */
export interface TrailReader {
  organizationId: string;
  workspaceId: string | undefined;
  isCustomer: boolean;
  types?: string | undefined;
  since?: string | undefined;
  actor?: string | undefined;
  outcome?: string | undefined;
}

export interface TrailPage<Shown> {
  data: Shown[];
  next: number;
}

interface PageRequest {
  /** Undefined: from the oldest that is kept. */
  after: number | undefined;
  limit: number;
  /** Newest first. `before`: only earlier positions; undefined: from the newest. */
  newestFirst?: { before: number | undefined } | undefined;
}

export const readTrail = (ctx: AuditContext, reader: TrailReader, request: PageRequest) =>
  readPage(ctx, reader, request, presentEntry);

export const readOwnTrail = (ctx: AuditContext, reader: TrailReader, request: PageRequest) =>
  readPage(ctx, reader, request, presentOwnEntry);

async function readPage<Shown>(
  { store: { db } }: AuditContext,
  reader: TrailReader,
  { after, limit, newestFirst }: PageRequest,
  show: (row: trail.TrailRow, personal: readonly LogPersonalRow[]) => Shown,
): Promise<TrailPage<Shown>> {
  const { organizationId, workspaceId, outcome, actor } = reader;
  // Read before the page: what comes meanwhile is on this page or has a later position.
  const { head, cutUntil } = await trail.findEnds(db, organizationId);
  if (after !== undefined && after > head) throw new AppError('events_ahead', { head });
  if (after !== undefined && after < cutUntil) throw new AppError('events_gone', { begin: cutUntil });
  const since = reader.since === undefined ? undefined : Date.parse(reader.since);
  const first = since === undefined ? 1 : await trail.findTrailPositionAt(db, organizationId, since);
  const from = Math.max(after ?? 0, cutUntil, (first ?? head + 1) - 1);
  const isKind = (actorKinds as readonly string[]).includes(actor ?? '');
  const filter: trail.TrailFilter = {
    after: from,
    before: newestFirst && (newestFirst.before ?? head + 1),
    types: wantedTypes(reader),
    workspaceId,
    since,
    actorId: isKind ? undefined : actor,
    actorKind: isKind ? actor : undefined,
    outcome,
  };
  const rows = await trail.listTrail(db, organizationId, filter, limit);
  const personal = await readPersonal(db, organizationId, rows);
  const data = rows.map((row) => show(row, personal.get(row.id) ?? []));
  const last = rows.at(-1)?.trail_position ?? from;
  if (newestFirst) return { data, next: rows.length < limit ? 0 : last };
  const next = rows.length < limit ? Math.max(head, last) : last;
  return { data, next };
}

async function readPersonal(db: Db, organizationId: string, rows: readonly trail.TrailRow[]) {
  const ids = rows.filter(({ commitments }) => commitments !== null).map(({ id }) => id);
  const byEntry = new Map<string, LogPersonalRow[]>();
  for (const row of await trail.listPersonal(db, organizationId, ids)) {
    byEntry.set(row.entry_id, [...(byEntry.get(row.entry_id) ?? []), row]);
  }
  return byEntry;
}

/** Undefined: every type. */
function wantedTypes({ types, isCustomer }: TrailReader): trail.WantedType[] | undefined {
  if (types === undefined && !isCustomer) return undefined;
  const named =
    types === undefined
      ? entryTypes
      : matchingTypes(
          types.split(',').map((part) => part.trim()),
          entryTypes,
        );
  return named.map((type) => ({ type, byTokenOnly: isCustomer && !customerTypes.includes(type) }));
}

export function presentEntry(row: trail.TrailRow, personal: readonly LogPersonalRow[]): AuditEvent {
  return {
    ...chainedEntry(row, row.previous_hash ?? genesisHash),
    commitments: row.commitments === null ? {} : JSON.parse(row.commitments),
    hash: row.hash,
    address: personalValue(personal, 'address') as string | null,
    user_agent: personalValue(personal, 'user_agent') as string | null,
    patch: personalValue(personal, 'patch') as object[] | null,
    salts: Object.fromEntries(personal.map(({ field, salt }) => [field, salt])),
  } as AuditEvent;
}

function presentOwnEntry(row: trail.TrailRow, personal: readonly LogPersonalRow[]): OwnAuditEvent {
  const isOwn = row.actor_kind === 'scoped_token';
  const own = (field: PersonalField) => (isOwn ? personalValue(personal, field) : null);
  return {
    position: row.trail_position,
    id: row.id,
    type: row.type,
    timestamp: isoTime(row.recorded_at),
    outcome: row.outcome,
    actor: {
      kind: isOwn ? 'token' : row.actor_kind === 'worker' ? 'service' : 'operator',
      id: isOwn ? row.actor_id : null,
    },
    workspace_id: row.workspace_id,
    request_id: isOwn ? row.request_id : null,
    data: dataOf(row, true),
    address: own('address') as string | null,
    user_agent: own('user_agent') as string | null,
    patch: ownPatch(own('patch') as PatchOperation[] | null),
    hash: row.hash,
  };
}

/** What the operator decides about a source or a connection. */
const ofOperator =
  /^\/(template_version|definition_version|schema_changes|namespace_format|prefix|customer_may_change)$/;

function ownPatch(patch: PatchOperation[] | null): object[] | null {
  return patch?.filter(({ path }) => !ofOperator.test(path)) ?? null;
}

function personalValue(personal: readonly LogPersonalRow[], wanted: PersonalField): unknown {
  const found = personal.find(({ field }) => field === wanted);
  return found ? JSON.parse(found.value) : null;
}

const exportedAtOnce = 500;

/** Everything up to now that the reader chose, in order. That someone exports is an entry itself. */
export async function* exportTrail(
  ctx: AuditContext,
  reader: TrailReader,
  { format, after }: { format: 'jsonl' | 'csv'; after?: number | undefined },
): AsyncGenerator<AuditEvent[]> {
  const { head } = await trail.findEnds(ctx.store.db, reader.organizationId);
  let page = await readTrail(ctx, reader, { after, limit: exportedAtOnce });
  // Only now: a position that cannot be read exports nothing.
  await ctx.store.transaction((tx) =>
    ctx.journal.record(tx, reader.organizationId, { type: 'audit.exported', data: { format } }),
  );
  for (;;) {
    const { data, next } = page;
    const wanted = data.filter(({ position }) => position <= head);
    yield wanted;
    if (wanted.length < exportedAtOnce) return;
    page = await readTrail(ctx, reader, { after: next, limit: exportedAtOnce });
  }
}

const namedAtOnce = 10_000;

/** Erases what entries say of persons. The entries stay, and the chain stays valid. */
export async function erase(
  { store, journal }: AuditContext,
  organizationId: string,
  request: AuditErasureRequest,
): Promise<AuditErasure> {
  const { workspace_id: workspaceId, actor_id: actorId, address, before, fields = ['address', 'user_agent'] } = request;
  const by = (['workspace_id', 'actor_id', 'address'] as const).filter((name) => request[name] !== undefined);
  if (by.length === 0) {
    throw invalidRequest({
      loc: ['body'],
      msg: 'select the entries by workspace_id, actor_id or address',
      type: 'value_error.missing',
    });
  }
  const chosen = { workspaceId, actorId, address, before: before === undefined ? undefined : Date.parse(before) };
  return await store.transaction(async (tx) => {
    const { waiting, chained } = await trail.erasePersonal(tx, organizationId, chosen, fields);
    // No entry grows without bound: a large erasure is several.
    for (let from = 0; from === 0 || from < chained.length; from += namedAtOnce) {
      const part = chained.slice(from, from + namedAtOnce);
      const ofField = (wanted: string) => part.filter(({ field }) => field === wanted).map(({ position }) => position);
      const positions = Object.fromEntries(fields.map((field) => [field, writePositions(ofField(field))]));
      const data = { by, fields, count: part.length + (from === 0 ? waiting : 0), positions };
      await journal.record(tx, organizationId, { type: 'audit.erased', data });
    }
    return { erased: waiting + chained.length };
  });
}

export async function listCheckpoints(
  { store: { db }, sealer }: { store: Store; sealer: Sealer },
  organizationId: string,
  limit: number,
): Promise<AuditCheckpointList> {
  const rows = await trail.listCheckpoints(db, organizationId, limit);
  const { cutUntil } = await trail.findEnds(db, organizationId);
  const beginning = cutUntil === 0 ? undefined : await trail.findCheckpoint(db, organizationId, cutUntil);
  return {
    organization_id: organizationId,
    checkpoints: rows.map(presentCheckpoint),
    beginning: beginning ? presentCheckpoint(beginning) : null,
    // Never a key that someone else has put into the database.
    keys: (await readOwnKeys(db, sealer)).jwks as AuditCheckpointList['keys'],
  };
}
