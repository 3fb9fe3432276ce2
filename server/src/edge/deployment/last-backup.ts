/** When the data was last backed up. Copies made by an upgrade don't count: they are on the same disk. */
import { statSync } from 'node:fs';
import { join } from 'node:path';

/** The time of this file in the data directory, which whatever makes a backup touches when it is done. */
const marker = 'last-backup';

/** Null where no backup is recorded. */
export function readLastBackup(dataDir: string): number | null {
  return statSync(join(dataDir, marker), { throwIfNoEntry: false })?.mtimeMs ?? null;
}
