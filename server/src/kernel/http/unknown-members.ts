/**
 * Finds query parameters and members of the body that the schema does not have and nobody reads. They are accepted and
 * named in a header, because a misspelled name would otherwise be ignored in silence. A caller who prefers strict
 * handling (RFC 7240) gets them as faults.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import type { TSchema } from 'typebox';

/** A place in a request: the part, then the names that lead to the member. */
export type Place = string[];

/** Adds the places of all members that the schema does not know. */
type UnknownFinder = (value: unknown, at: Place, found: Place[]) => void;

/** More places than this help nobody, and would let a small request cause a huge answer. */
const maxPlaces = 100;

interface Part {
  properties?: Record<string, Part>;
  items?: Part;
  patternProperties?: Record<string, Part>;
  additionalProperties?: boolean | Part;
}

const ignoreAll: UnknownFinder = () => {};

/** In a part of the request without a schema, every member is unknown. */
export function findUnknownIn(schema: TSchema | undefined): UnknownFinder {
  return finderFor(schema === undefined ? { properties: {} } : (schema as Part));
}

/** Objects with listed members are closed; those with free names (a configuration, for instance) are open. */
function finderFor({ properties, items, patternProperties, additionalProperties }: Part): UnknownFinder {
  if (items) return eachItem(finderFor(items));
  if (patternProperties) return eachMember(Object.values(patternProperties).map(finderFor)[0] ?? ignoreAll);
  if (properties && additionalProperties === undefined) {
    return onlyMembers(new Map(Object.entries(properties).map(([name, part]) => [name, finderFor(part)])));
  }
  return ignoreAll;
}

function onlyMembers(known: Map<string, UnknownFinder>): UnknownFinder {
  return (value, at, found) => {
    if (!isObject(value)) return;
    for (const name of Object.keys(value)) {
      const find = known.get(name);
      if (find === ignoreAll) continue;
      if (find) find(value[name], [...at, name], found);
      else if (found.length < maxPlaces) found.push([...at, name]);
    }
  };
}

function eachMember(find: UnknownFinder): UnknownFinder {
  if (find === ignoreAll) return ignoreAll;
  return (value, at, found) => {
    if (!isObject(value)) return;
    for (const [name, member] of Object.entries(value)) find(member, [...at, name], found);
  };
}

function eachItem(find: UnknownFinder): UnknownFinder {
  if (find === ignoreAll) return ignoreAll;
  return (value, at, found) => {
    if (!Array.isArray(value)) return;
    value.forEach((item, index) => {
      find(item, [...at, String(index)], found);
    });
  };
}

/**
 * Shorter than any token or secret: a client may put a secret where a name belongs, and an answer must not repeat it.
 */
const maxNameLength = 30;
const maxListLength = 512;

/** `query.name, body.theme.colour`: everything but letters, digits, `_` and `-` is percent-encoded. */
export function listPlaces(places: readonly Place[]): string {
  let list = '';
  for (const place of places) {
    const name = place.map(encodeName).join('.');
    if (list.length + name.length + 2 > maxListLength) return list === '' ? '...' : `${list}, ...`;
    list += list === '' ? name : `, ${name}`;
  }
  return list;
}

/** Long names are cut: a header has little room, and the beginning of a name is enough to recognize it. */
function encodeName(name: string): string {
  const short = [...name.toWellFormed()].slice(0, maxNameLength).join('');
  return encodeURIComponent(short).replace(
    /[.!~*'()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Whether a Prefer header asks for strict handling. If a preference is repeated, the first one counts. */
export function prefersStrictHandling(prefer: string | string[] | undefined): boolean {
  if (prefer === undefined) return false;
  for (const preference of [prefer].flat().join(',').split(',')) {
    const [, handling] = /^\s*handling\s*=\s*"?(\w+)"?\s*(?:;|$)/i.exec(preference) ?? [];
    if (handling !== undefined) return handling.toLowerCase() === 'strict';
  }
  return false;
}
