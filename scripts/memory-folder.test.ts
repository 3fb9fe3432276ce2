import { expect, it } from 'vitest';
import { folderInMemory } from './memory-folder.mjs';

const plenty = { free: 16e9, memory: 16e9, mount: 'tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0' };

it('tests keep their files in memory where there is plenty of it', () => {
  expect(folderInMemory(() => plenty)).toBe('/dev/shm');
});

it.each([
  ['it is small, as it is in a container', { free: 64e6 }],
  ['the machine has little memory', { memory: 4e9 }],
  ['programs may not run in it', { mount: 'shm /dev/shm tmpfs rw,nosuid,nodev,noexec 0 0' }],
  ['it is on a disk', { mount: undefined }],
])('the folder in memory is not used when %s', (_why, changes) => {
  expect(folderInMemory(() => ({ ...plenty, ...changes }))).toBeUndefined();
});

it('the folder in memory is not used when there is none', () => {
  const look = () => {
    throw new Error('ENOENT');
  };
  expect(folderInMemory(look)).toBeUndefined();
});
