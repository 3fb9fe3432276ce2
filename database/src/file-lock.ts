/**
 * A lock between processes, on a file. The operating system releases it when the process ends, however it ends, so a living
 * process is never mistaken for a dead one. SQLite takes the lock: the databases beside it depend on the same kind of lock.
 */
import { writeFileSync } from 'node:fs';
import { SqliteConnection } from './connection.ts';

/** Released by `close()`. */
export type FileLock = Pick<SqliteConnection, 'close'>;

interface Clock {
  elapsed(): number;
  sleep(ms: number): Promise<void>;
}

const pollMs = 20;

/** Undefined when another process, or another part of this one, holds the lock. */
export function tryLock(file: string): FileLock | undefined {
  writeFileSync(file, '', { flag: 'a', mode: 0o600 });
  const connection = new SqliteConnection(file, { busyTimeoutMs: 0 });
  try {
    connection.exec('begin immediate');
    return connection;
  } catch (error) {
    connection.close();
    if ((error as { code?: unknown }).code !== 'SQLITE_BUSY') throw error;
    return undefined;
  }
}

export async function takeLock(file: string, { sleep, elapsed }: Clock, patienceMs: number): Promise<FileLock> {
  const deadline = elapsed() + patienceMs;
  for (;;) {
    const lock = tryLock(file);
    if (lock) return lock;
    if (elapsed() > deadline) throw new Error(`Another process has locked ${file} for ${patienceMs / 1000} seconds.`);
    await sleep(pollMs);
  }
}
