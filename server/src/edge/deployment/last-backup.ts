/** When the data was last backed up. Copies made by an upgrade don't count: they are on the same disk. */
import { existsSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The time of this file in the data directory, which whatever makes a backup touches when it is done. */
const marker = 'last-backup';

/** Null where no backup is recorded. */
export function readLastBackup(dataDir: string): number | null {
  const file = join(dataDir, marker);
  return existsSync(file) ? Math.round(statSync(file).mtimeMs) : null;
}

/** The data of the backup is as old as its beginning. */
export function recordBackup(dataDir: string, startedAt: number): void {
  const file = join(dataDir, marker);
  writeFileSync(file, '', { mode: 0o600 });
  utimesSync(file, startedAt / 1000, startedAt / 1000);
}
