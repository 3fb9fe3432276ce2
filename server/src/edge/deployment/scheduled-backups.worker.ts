/**
 * Makes the scheduled backups, and deletes the oldest ones. Runs in every replica; one of them makes each backup, under a lease
 * that it renews. A backup that was missed because nothing ran is made at the next start. One that fails is recorded as
 * an event of the first organization and is not retried before the next time.
 */
import { nextRuns } from '@inlay/schedule/quartz';
import type { Logger } from 'pino';
import { type Repetition, repeatedly } from '../../kernel/background.ts';
import type { Store } from '../../kernel/db/open.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Journal } from '../../log/events/journal.ts';
import { type DeploymentContext, makeBackupIn, openBackupPlace } from './backup.worker.ts';
import { deleteOld } from './backup-places.ts';
import { readLastBackup, recordBackup } from './last-backup.ts';
import { type LastRun, leaseBackup, readLastRun, recordRun, releaseBackup } from './scheduled-backups.worker.store.ts';

const everyMs = 60_000;
const leaseMs = 120_000;

export interface ScheduledBackups extends Repetition {
  /** Makes the backup now if it is due. */
  pass(stopping?: AbortSignal): Promise<void>;
}

interface ScheduledBackupsContext extends DeploymentContext {
  store: Store;
  log: Logger;
  journal: Journal;
  firstOrganizationId: string;
}

export function createScheduledBackups(ctx: ScheduledBackupsContext): ScheduledBackups {
  const { store, config, secrets, runtime, log, journal, firstOrganizationId } = ctx;
  const { to, schedule, keep } = config.backup;

  async function pass(stopping?: AbortSignal): Promise<void> {
    if (schedule === undefined || to === undefined) return;
    const last = await readLastRun(store.db);
    // Another replica may have made it: this one's health page and commands show the time, too.
    if (last.madeAt !== null && last.madeAt > (readLastBackup(config.dataDir) ?? 0)) {
      recordBackup(config.dataDir, last.madeAt);
    }
    const due = nextRuns(schedule, new Date(last.ranAt), 1)[0];
    if (due === undefined || due.getTime() > last.now) return;
    const leaseId = runtime.newId();
    const renew = () => leaseBackup(store.db, leaseId, leaseMs, last.ranAt);
    if (!(await renew())) return;
    const renewing = repeatedly(
      { runtime, log },
      { what: 'Renewal of the lease of a backup', pauseMs: () => leaseMs / 4, work: async () => void (await renew()) },
    );
    renewing.start();
    try {
      await run(last, to, { leaseId, stopping });
    } finally {
      await renewing.stop();
      await releaseBackup(store.db, leaseId);
    }
  }

  async function run(
    { madeAt: lastMadeAt }: LastRun,
    to: string,
    { leaseId, stopping }: { leaseId: string; stopping: AbortSignal | undefined },
  ): Promise<void> {
    let madeAt: number | undefined;
    try {
      const place = await openBackupPlace(ctx, to);
      try {
        const options = { passphrase: secrets.backupPassphrase, leavesKeysOut: false, includesFiles: false, stopping };
        const { at, manifest } = await makeBackupIn(place, ctx, options);
        madeAt = Date.parse(manifest.started_at);
        log.info({ at }, 'Backup made');
        await deleteOld(place, { keep, now: runtime.now() });
      } finally {
        await place.close();
      }
      await recordRun(store.db, leaseId, madeAt);
    } catch (err) {
      if (stopping?.aborted && madeAt === undefined) return;
      log.error({ err }, 'Scheduled backup failed');
      const last = madeAt ?? lastMadeAt;
      const data = { message: (err as Error).message, last_backup_at: last === null ? null : isoTime(last) };
      await store.transaction(async (tx) => {
        await recordRun(tx, leaseId, madeAt);
        await journal.record(tx, firstOrganizationId, { type: 'backup.failed', data });
      });
    }
  }

  return { pass, ...repeatedly({ runtime, log }, { what: 'Backup schedule', pauseMs: () => everyMs, work: pass }) };
}
