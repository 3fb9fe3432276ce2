/*
 * What objects are called: `<prefix><namespace>/<stream>/<generation>/<sync>-<run>-<n>.jsonl.gz`. Two streams never
 * share a name, nor do two runs: a run that was given up for dead and still ends cannot overwrite what its successor
 * stored. Sorted by name, the objects of a generation are in the order in which they were made.
 */
import { createHash } from 'node:crypto';
import type { ConfiguredStream, StreamDescriptor } from '@inlay/protocol/protocol';

const longestSegment = 200;
const objectName = /^(\d+)\/\d+-(\d+)-\d+\.jsonl\.gz$/;

/** Folder of all generations of a stream; ends with a slash. */
export function streamFolder(prefix: string, { name, namespace }: StreamDescriptor): string {
  // Without a namespace, its level is omitted; the depth keeps such objects apart from those of a namespace.
  const levels = namespace ? [namespace, name] : [name];
  return `${prefix}${levels.map(segmentOf).join('/')}/`;
}

/** What is common to the objects of one run in a stream's folder. */
export function runPrefix(stream: ConfiguredStream, startedAtMs: number): string {
  return `${stream.generation_id}/${stream.sync_id}-${startedAtMs}-`;
}

export function numberedObject(n: number): string {
  return `${String(n).padStart(5, '0')}.jsonl.gz`;
}

/** Which run an object in a stream's folder is of; undefined for anything this connector has not put there. */
export function findOrigin(nameInFolder: string): { generation: number; startedAtMs: number } | undefined {
  const found = objectName.exec(nameInFolder);
  return found ? { generation: Number(found[1]), startedAtMs: Number(found[2]) } : undefined;
}

/** Letters, digits, '-', '_' and inner dots are unchanged; every other byte becomes '!' and two hexadecimal digits. */
function segmentOf(name: string): string {
  const escaped = [...Buffer.from(name, 'utf8')]
    .map((byte, index) => {
      const character = String.fromCharCode(byte);
      const stays = /[A-Za-z0-9_-]/.test(character) || (character === '.' && index > 0);
      return stays ? character : `!${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
  if (escaped.length <= longestSegment) return escaped;
  // A key has at most 1,024 bytes. No escape begins with '!-', so a shortened name is never another's whole name.
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return `${escaped.slice(0, longestSegment - 34)}!-${digest}`;
}
