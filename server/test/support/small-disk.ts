/** A disk that tests fill up and free again, for services that run as processes of their own. */
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Service } from './service.ts';

export interface SmallDisk {
  dataDir: string;
  fill(service: Service): void;
  free(service: Service): unknown;
  remove(): void;
}

/** A file system of a few megabytes; where we may not mount one, a limit on the size of the service's files. */
export function makeSmallDisk(megabytes: number): SmallDisk {
  const dataDir = mkdtempSync(join(tmpdir(), 'inlay-full-'));
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: 'pipe' });
  try {
    run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', dataDir);
  } catch (noMount) {
    try {
      run('prlimit', '--version');
    } catch {
      throw new Error('A full disk can be tested only as root or with prlimit (util-linux).', { cause: noMount });
    }
    const limit = (service: Service, size: string) => run('prlimit', '--pid', String(service.pid), `--fsize=${size}:`);
    return {
      dataDir,
      // Files can be read and overwritten, but none can grow beyond one page.
      fill: (service) => void limit(service, '4096'),
      // The limit of a process that has ended has ended with it.
      free: (service) => existsSync(`/proc/${service.pid}`) && limit(service, 'unlimited'),
      remove: () => rmSync(dataDir, { recursive: true, force: true }),
    };
  }
  const filler = join(dataDir, 'filler');
  return {
    dataDir,
    fill() {
      const file = openSync(filler, 'w');
      try {
        for (const size of [65_536, 4_096, 1]) writeUntilFull(file, Buffer.alloc(size));
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler),
    remove() {
      run('umount', '--lazy', dataDir);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function writeUntilFull(file: number, chunk: Buffer): void {
  try {
    for (;;) writeSync(file, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
