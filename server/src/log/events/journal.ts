/**
 * The event log of an organization, a transactional outbox: this file writes entries, sequencer.worker.ts numbers them, and
 * events.ts reads them.
 *
 * Invariants: an entry is written in the transaction of its change, so it exists exactly if the change took effect. It
 * names who made the change, and never changes afterwards.
 */
import type { Cause } from '../../kernel/cause.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { type Change, catalogue, type Entry } from './catalogue.ts';
import { patchOf } from './json-patch.ts';
import * as log from './log.store.ts';

export interface Journal {
  /** In the transaction of the change, and after the change: what it depends on is locked by then. */
  record(tx: Db, organizationId: string, ...entries: Entry[]): Promise<void>;
  /** The same log, for changes that this cause has. */
  by(cause: Cause): Journal;
  /** Who makes the changes that are recorded. */
  readonly cause: Cause;
}

interface JournalOptions {
  runtime: Pick<Runtime, 'newId'>;
  cause: Cause;
  /** Called for new entries, whose transaction is not committed yet. */
  onRecorded?: () => void;
}

export function createJournal(options: JournalOptions): Journal {
  const { runtime, cause, onRecorded } = options;
  return {
    async record(tx, organizationId, ...entries) {
      if (entries.length === 0) return;
      const about = {
        actor_kind: cause.actor.kind,
        actor_id: cause.actor.id,
        actor_name: cause.actor.name,
        request_id: cause.requestId,
        trace_id: cause.traceId,
        personal: personalOf(cause),
      };
      const rows = entries.map(({ type, workspaceId = null, data, outcome, change }) => ({
        id: runtime.newId(),
        type,
        is_event: catalogue[type].isEvent ? 1 : 0,
        workspace_id: workspaceId,
        data: JSON.stringify(data),
        outcome: outcome ?? ('done' as const),
        patch: change ? patchText(change) : null,
      }));
      await log.append(tx, organizationId, about, rows);
      onRecorded?.();
    },
    by: (other) => createJournal({ ...options, cause: other }),
    cause,
  };
}

/** Longer user agents carry no further information. */
const maxUserAgent = 256;

/** As JSON. The sequencer takes it out of the entry and commits to it. */
function personalOf({ where }: Cause): string | null {
  const { address, userAgent } = where?.() ?? {};
  if (address === undefined && userAgent === undefined) return null;
  return JSON.stringify({ address, user_agent: userAgent?.slice(0, maxUserAgent).toWellFormed() });
}

/** Nothing is an object without members, so that every library can apply the patch. */
function patchText({ before = {}, after = {} }: Change): string | null {
  const patch = patchOf(before, after);
  return patch.length === 0 ? null : JSON.stringify(patch);
}

/** The context of rules, for changes that this cause has. */
export function causedBy<C extends { journal: Journal }>(ctx: C, cause: Cause): C {
  return { ...ctx, journal: ctx.journal.by(cause) };
}
