/** When the data was last backed up. Copies made by an upgrade don't count: they are on the same disk. */
import { existsSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file in the data directory whose modification time is that of the last backup. */
const marker = 'last-backup';

/** Null if no backup is recorded. */
export function readLastBackup(dataDir: string): number | null {
  const file = join(dataDir, marker);
  return existsSync(file) ? Math.round(statSync(file).mtimeMs) : null;
}

/** Records the start: changes made during a backup may be missing in it. */
export function recordBackup(dataDir: string, startedAt: number): void {
  const file = join(dataDir, marker);
  writeFileSync(file, '', { mode: 0o600 });
  utimesSync(file, startedAt / 1000, startedAt / 1000);
}
