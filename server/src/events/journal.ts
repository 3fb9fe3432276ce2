/**
 * The log of an organization: everything that has happened, in one order, for every reader. This file writes entries;
 * sequencer.worker.ts gives them their positions; events.ts reads them.
 *
 * What always holds: an entry is written in the transaction of its change, so there is one exactly if the change took effect.
 * It says who made the change. It is never changed afterwards.
 */
import type { Cause } from '../cause.ts';
import type { Db } from '../db/open.ts';
import type { Runtime } from '../runtime.ts';
import { catalogue, type Entry } from './catalogue.ts';
import * as log from './log.store.ts';

export interface Journal {
  /** In the transaction of the change, and after the change: what it depends on is locked by then. */
  record(tx: Db, organizationId: string, ...entries: Entry[]): Promise<void>;
  /** The same log, for changes that this cause has. */
  by(cause: Cause): Journal;
}

interface JournalOptions {
  runtime: Pick<Runtime, 'newId'>;
  cause: Cause;
  /** Told of new entries, whose transaction is not committed yet. */
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
      };
      const rows = entries.map(({ type, workspaceId = null, data }) => ({
        id: runtime.newId(),
        type,
        is_event: catalogue[type].isEvent ? 1 : 0,
        workspace_id: workspaceId,
        data: JSON.stringify(data),
      }));
      await log.append(tx, organizationId, about, rows);
      onRecorded?.();
    },
    by: (other) => createJournal({ ...options, cause: other }),
  };
}

/** The context of rules, for changes that this cause has. */
export function causedBy<C extends { journal: Journal }>(ctx: C, cause: Cause): C {
  return { ...ctx, journal: ctx.journal.by(cause) };
}
