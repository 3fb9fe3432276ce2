// Where a run of the tests keeps its databases and data directories: in memory if there is enough. The tests create
// and remove thousands of small files, and a disk's file system takes twice the CPU time for them.

import { readFileSync, statfsSync } from 'node:fs';

const gibibyte = 2 ** 30;
const inMemory = '/dev/shm';

/**
 * The folder in memory: its free bytes, the memory still available to programs, and its line in the list of mounts.
 */
function surroundings() {
  const { bavail, bsize } = statfsSync(inMemory);
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === inMemory);
  return { free: bavail * bsize, memory: process.availableMemory(), mount };
}

/** @returns {string | undefined} nothing where there is no such folder, it is small, or programs may not run in it */
export function folderInMemory(look = surroundings) {
  try {
    const { free, memory, mount } = look();
    const [, , type, options = ''] = mount?.split(' ') ?? [];
    const isUsable = type === 'tmpfs' && !options.split(',').includes('noexec');
    return isUsable && free >= 4 * gibibyte && memory >= 8 * gibibyte ? inMemory : undefined;
  } catch {
    // Not every system has such a folder.
    return undefined;
  }
}
