/*
 * Names and folders of local files. Whatever a stream's name, its folder has a unique plain name, and no folder is
 * reached through a link: everything written stays inside the workspace's folder.
 *
 * Unfinished files have a hidden name with the id of the process that writes them, so that leftovers of a killed
 * process can be distinguished from work in progress.
 */
import { lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConnectorError } from '@inlay/protocol/connector';
import type { StreamDescriptor } from '@inlay/protocol/protocol';

/** With its hash, and twice with a dot in between, a name fits into the 255 bytes of a file name. */
const maxNameLength = 90;

/**
 * Letters, digits, `_` and `-` are unchanged, so the dot between namespace and name, and `~`, are never part of either.
 */
export function folderName({ name, namespace }: StreamDescriptor): string {
  return namespace ? `${plainName(namespace)}.${plainName(name)}` : plainName(name);
}

export function plainName(name: string): string {
  if (name === '') return '%';
  const plain = name.replace(/[^A-Za-z0-9_-]/gu, (character) =>
    Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
  if (plain.length <= maxNameLength) return plain;
  // Loaded only where it is needed, which is seldom: it is a tenth of the start of this connector.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return `${plain.slice(0, maxNameLength)}~${hash}`;
}

/** Makes the folders that are missing, each one durable. */
export async function makeFolder(root: string, ...names: string[]): Promise<string> {
  let folder = root;
  for (const name of names) {
    const parent = folder;
    folder = join(parent, name);
    const found = await lstat(folder).catch(ignoreMissing);
    if (!found) {
      await mkdir(folder, { mode: 0o700 }).catch(ignoreExisting);
      await syncFolder(parent);
    } else if (!found.isDirectory()) {
      throw new ConnectorError(`${name} is a file, not a folder. Choose a different folder.`).about('path');
    }
  }
  return folder;
}

export async function isThere(folder: string): Promise<boolean> {
  return (await lstat(folder).catch(ignoreMissing)) !== undefined;
}

/** What was renamed, made or removed in a folder outlives a power cut only after this. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function hiddenName(purpose: string): string {
  return `.${process.pid}-${purpose}`;
}

/** Removes hidden files and folders of processes that are gone. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = /^\.(\d+)-/.exec(name) ?? [];
    if (pid && (Number(pid) === process.pid || !isRunning(Number(pid)))) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Another process may make the same folder at the same time. */
function ignoreExisting(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') throw error;
}
