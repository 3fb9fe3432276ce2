/**
 * Numbers the entries of the log (a transactional outbox): 1, 2, 3, … for each organization, without a gap. Runs in every
 * replica; a lease lets one of them do it.
 *
 * What always holds: only an entry whose transaction is committed gets a position, and keeps it. On PostgreSQL a
 * transaction that wrote its entry first may be committed last, so numbers of the database are no order for readers. A
 * transaction that began after another was committed comes after it. Entries for the audit alone take no position from
 * the events; the trail counts both. Everything of a batch happens in one transaction that holds the lease's row: the
 * hashes of the audit trail (chain.ts) as well, so no request waits for them.
 */
import type { Logger } from 'pino';
import { attentionOf, type Repetition, repeatedly } from '../../kernel/background.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { LogPersonalRow } from '../../kernel/db/tables.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { chainedEntry, commitTo, genesisHash, hashOf } from './chain.ts';
import * as log from './log.worker.store.ts';

/** After a process that died, another takes over this much later. */
const leaseMs = 2_000;
/**
 * What this process writes wakes it. Another process that writes gives the positions itself, unless someone has the lease:
 * who has it was at work just now, and looks often. So only what a command or a killed process has left waits longer.
 */
const looks = { oftenMs: 200, rarelyMs: 1_000, afterMs: 10_000 };
/** After a sign that something was written: its transaction is committed a moment later. */
const soonMs = 10;
const signsCount = 5;
const batch = 500;

export interface Sequencer extends Repetition {
  /** Something was written, and is committed soon. */
  soon(): void;
  /** Gives a position to everything that waits. Resolves with how many there were. */
  pass(): Promise<number>;
  /** How many entries wait for their position. */
  backlog(): Promise<number>;
}

interface SequencerContext {
  store: Store;
  runtime: Runtime;
  log: Logger;
  /** Called for organizations that have new positions. */
  onSequenced(organizationIds: readonly string[]): void;
}

export function createSequencer(ctx: SequencerContext): Sequencer {
  const leaseId = ctx.runtime.newId();
  /** How many more short pauses there are. */
  let signs = 0;
  const attention = attentionOf(ctx.runtime, looks);

  async function pass(): Promise<number> {
    let total = 0;
    if (!(await log.hasPending(ctx.store.db))) return total;
    for (;;) {
      const { organizationIds, count } = await sequence(ctx, leaseId);
      if (count > 0) ctx.onSequenced(organizationIds);
      if (count > 0) attention.noticed();
      total += count;
      if (count < batch) return total;
    }
  }

  const repetition = repeatedly(
    { ...ctx, runtime: { ...ctx.runtime, sleep } },
    {
      what: 'Event sequencing',
      pauseMs: () => (signs > 0 ? soonMs : attention.pauseMs()),
      work: async () => {
        signs = Math.max(0, signs - 1);
        await pass();
      },
    },
  );

  async function sleep(ms: number, stopping?: AbortSignal): Promise<void> {
    await attention.sleep(ms, stopping);
    // A sign comes a moment before the commit.
    if (signs === signsCount) await ctx.runtime.sleep(soonMs, stopping);
  }

  return {
    pass,
    backlog: () => log.countPending(ctx.store.db),
    soon() {
      signs = signsCount;
      attention.wake();
    },
    start: repetition.start,
    async stop() {
      await repetition.stop();
      // Another replica need not wait until the lease has run out.
      await log
        .releaseSequencer(ctx.store.db, leaseId)
        .catch((err) => ctx.log.warn({ err }, 'Failed to release event log lease'));
    },
  };
}

async function sequence(
  { store }: SequencerContext,
  leaseId: string,
): Promise<{ organizationIds: string[]; count: number }> {
  return await store.transaction(async (tx) => {
    const lease = await log.leaseSequencer(tx, leaseId, leaseMs);
    const pending = lease ? await log.listPending(tx, batch) : [];
    if (!lease || pending.length === 0) return { organizationIds: [], count: 0 };
    const organizationIds = [...new Set(pending.map(({ organization_id }) => organization_id))].sort();
    const heads = await log.readHeads(tx, organizationIds);
    const personal: LogPersonalRow[] = [];
    const chained = pending.map((entry): log.Chained => {
      const { number, organization_id, is_event, recorded_at } = entry;
      const before = heads.get(organization_id) ?? firstHead(organization_id);
      const { rows, commitments } = commitTo(entry);
      personal.push(...rows);
      const position = before.position + is_event;
      const trail_position = before.trail_position + 1;
      // The clock may have been set back.
      const sequenced_at = Math.max(before.sequenced_at, lease.now, recorded_at);
      const place = { trail_position, position: is_event === 1 ? position : null, sequenced_at, commitments };
      const hash = hashOf(chainedEntry({ ...entry, ...place }, before.hash ?? genesisHash));
      heads.set(organization_id, { organization_id, position, trail_position, sequenced_at, hash });
      return { number, ...place, hash };
    });
    await log.chain(tx, chained, personal);
    for (const head of heads.values()) await log.putHead(tx, head);
    return { organizationIds, count: pending.length };
  });
}

const firstHead = (organization_id: string): log.Head => ({
  organization_id,
  position: 0,
  trail_position: 0,
  sequenced_at: 0,
  hash: null,
});

/** For housekeeping: ends the readability of events beyond retention. */
export function createEventRetention({ store }: { store: Store }, eventsMs: number): () => Promise<void> {
  return async () => {
    for (const organizationId of await log.listOrganizationsWithLog(store.db)) {
      await store.transaction((tx) => log.hideEventsBefore(tx, organizationId, eventsMs));
    }
  };
}
