/**
 * What a change did, as JSON Patch (RFC 6902). Before each value that is replaced or removed, a `test` says what it was: so
 * the patch has both sides, and applies only to what was there before.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@inlay/contract/catalog/connector-configuration';

export type PatchOperation =
  | { op: 'test' | 'replace' | 'add'; path: string; value: unknown }
  | { op: 'remove'; path: string };

/** Goes as deep as there are objects on both sides. Undefined is nothing. A list is replaced as a whole. */
export function patchOf(before: unknown, after: unknown, path = ''): PatchOperation[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => patchOf(memberOf(before, name), memberOf(after, name), `${path}/${escaped(name)}`));
  }
  if (before === undefined) return [{ op: 'add', path, value: after }];
  const was = { op: 'test', path, value: before } as const;
  return after === undefined ? [was, { op: 'remove', path }] : [was, { op: 'replace', path, value: after }];
}

function memberOf(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** As a part of a JSON Pointer (RFC 6901). */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
