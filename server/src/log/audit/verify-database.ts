/** Verifies the trail of an organization as the database holds it, with everything beside it that belongs to the trail. */
import type { AuditCheckpoint } from '@inlay/contract/log/audit';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { AuditCheckpointRow, LogHeadRow, LogPersonalRow } from '../../kernel/db/tables.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import { readOwnKeys } from './audit-keys.ts';
import { presentCheckpoint } from './checkpoints.ts';
import * as trail from './trail.store.ts';
import { presentEntry } from './trail.ts';
import { createVerifier, type Fault, inOrder, type Verification } from './verify.ts';

const atOnce = 500;
/** `INLAY_EVENT_DAYS` is at least this. */
const shortestEventsMs = 86_400_000;

/** Compares with checkpoints that were kept elsewhere, too. Their keys need not be known: the deployment has its own. */
export async function verifyDatabase(
  { store, sealer }: { store: Store; sealer: Sealer },
  organizationId: string,
  kept: readonly AuditCheckpoint[] = [],
): Promise<Verification> {
  const { db } = store;
  // In this order: a running service only appends, so later reads may be ahead but never behind.
  const lastPosition = await trail.findLastPosition(db, organizationId);
  const head = await trail.findHead(db, organizationId);
  const stored = await trail.listCheckpoints(db, organizationId, Number.MAX_SAFE_INTEGER);
  const laterHead = await trail.findHead(db, organizationId);
  const { keys, forged } = await readOwnKeys(db, sealer);
  const faults: Fault[] = forged.map((kid) => ({
    position: null,
    id: kid,
    problem:
      'The key does not match this deployment, or INLAY_ENCRYPTION_KEY is not the key this database was last used with.',
  }));

  const [end, cutUntil] = [head?.trail_position ?? 0, head?.cut_until ?? 0];
  const checkpoints = stored
    .filter(({ position }) => position <= end || position > (laterHead?.trail_position ?? 0))
    .flatMap((row) => readCheckpoint(row) ?? tellOf(faults, row.position, 'The stored checkpoint cannot be read.'));
  const verifier = createVerifier({ keys, kept, database: { cutUntil, checkpoints } });
  const seen: Seen = {};
  for (let after = cutUntil; after < end; ) {
    const { rows, read } = await readPage(db, organizationId, after);
    for (const [index, row] of rows.entries()) {
      if (row.trail_position > end) break;
      verifier.add(read[index]);
      seen.event = row.position ?? seen.event;
      seen.lastTime = row.sequenced_at;
      if (row.position === head?.events_after) seen.hiddenTime = row.sequenced_at;
      if (row.sequenced_at === head?.checkpoint_at) seen.isCheckpointTime = true;
    }
    if (rows.length < atOnce) break;
    after = rows.at(-1)?.trail_position ?? end;
  }
  const result = verifier.end();
  // Retention moved the beginning meanwhile.
  if (((await trail.findHead(db, organizationId))?.cut_until ?? 0) !== cutUntil) {
    return await verifyDatabase({ store, sealer }, organizationId, kept);
  }
  const { last } = result;
  if (last.position < end) {
    const from = Math.min(Math.max(last.position, cutUntil) + 1, end);
    tellOf(faults, from, `Entries ${from} to ${end} are missing at the end.`);
  }
  if (lastPosition > end)
    tellOf(faults, end + 1, `The trail continues after position ${end}, where its head says it ends.`);
  if (head && last.position === end) {
    const now = await store.now();
    const wrong = wrongColumns({ head, laterHead: laterHead ?? head, newest: stored[0], seen, result, now });
    if (wrong.length > 0) tellOf(faults, end, `The head of the trail was modified: ${wrong.join(', ')} in log_heads.`);
  }
  return { ...result, faults: inOrder([...faults, ...result.faults]) };
}

function tellOf(faults: Fault[], position: number, problem: string): [] {
  faults.push({ position, id: null, problem });
  return [];
}

/** What the entries say that the head says as well. */
interface Seen {
  /** The position of the last event. */
  event?: number | undefined;
  lastTime?: number;
  /** When the last event that is hidden got its position. */
  hiddenTime?: number;
  isCheckpointTime?: boolean;
}

interface Heads {
  head: LogHeadRow;
  /** Read after the checkpoints. */
  laterHead: LogHeadRow;
  newest: AuditCheckpointRow | undefined;
  seen: Seen;
  result: Verification;
  now: number;
}

/** The columns of the head that do not say what the trail says. */
function wrongColumns({ head, laterHead, newest, seen, result, now }: Heads): string[] {
  const { events_after: hidden, checkpoint_position: signed } = head;
  const isCut = result.cut !== null || result.unchained > 0;
  const isRight: Record<Exclude<keyof LogHeadRow, 'organization_id' | 'trail_position' | 'cut_until'>, boolean> = {
    hash: head.hash === result.last.hash,
    position: seen.event === undefined ? isCut || head.position === 0 : head.position === seen.event,
    sequenced_at: head.sequenced_at === seen.lastTime,
    checkpoint_position: signed <= (newest?.position ?? 0) && (newest?.position ?? 0) <= laterHead.checkpoint_position,
    // Before the first checkpoint: the time of the first entries, or 0 where entries are older than the chain.
    checkpoint_at:
      newest === undefined
        ? seen.isCheckpointTime === true || (head.checkpoint_at === 0 && result.unchained > 0)
        : newest.position !== signed || newest.signed_at === head.checkpoint_at,
    // Which setting was in force when events were hidden is not recorded.
    events_after: hidden >= 0 && hidden <= head.position && !((seen.hiddenTime ?? 0) > now - shortestEventsMs),
  };
  return Object.entries(isRight).flatMap(([column, isFine]) => (isFine ? [] : [column]));
}

/** Entries as the API shows them. Undefined for a row that nobody could have written. */
async function readPage(db: Db, organizationId: string, after: number) {
  const everything = { types: undefined, workspaceId: undefined, since: undefined };
  const filter = { ...everything, actorId: undefined, actorKind: undefined, outcome: undefined };
  const rows = await trail.listTrail(db, organizationId, { ...filter, after }, atOnce);
  const personal = new Map<string, LogPersonalRow[]>();
  for (const one of await trail.listPersonal(
    db,
    organizationId,
    rows.map(({ id }) => id),
  )) {
    personal.set(one.entry_id, [...(personal.get(one.entry_id) ?? []), one]);
  }
  const read = rows.map((row) => {
    const own = personal.get(row.id) ?? [];
    const texts = [row.data, row.commitments ?? '{}', ...own.map(({ value }) => value)];
    try {
      return texts.every(isAsWritten) ? presentEntry(row, own) : { id: row.id };
    } catch {
      return { id: row.id };
    }
  });
  return { rows, read };
}

/** Without spaces or members that a reader would pass over. */
const isAsWritten = (json: string) => JSON.stringify(JSON.parse(json)) === json;

function readCheckpoint(row: AuditCheckpointRow): AuditCheckpoint | undefined {
  try {
    return row.cut === null || isAsWritten(row.cut) ? presentCheckpoint(row) : undefined;
  } catch {
    return undefined;
  }
}
