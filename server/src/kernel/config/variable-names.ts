/** Names in the environment that are not ours, although they look like it: misspellings, and names nobody reads. */
import { secretFileVariables } from './secret-files.ts';
import { variables } from './variables.ts';

const ours = [...Object.keys(variables), ...secretFileVariables];

/** What examples and the console call the address of a service, in the shell of the person who sends requests. */
const ofClients = 'INLAY_URL';

/**
 * Kubernetes describes every Service of a namespace to its pods in the environment. A Service named `inlay`, or a name that
 * begins with `inlay-`, gets names that begin like ours, and one of them may even be ours (`inlay-metrics`).
 */
export function isInjected(name: string, value: string | undefined): boolean {
  if (/^INLAY_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$/.test(name)) return true;
  return name === 'INLAY_PORT' || (/^INLAY_\w+_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value ?? ''));
}

export interface StrangeNames {
  /** So close to one of ours that a setting was meant and has no effect. */
  misspelled: { name: string; meant: string }[];
  /** Other names that begin with INLAY_, each with what there is to say about it. */
  unknown: string[];
}

export function findStrangeNames(env: Readonly<Record<string, string | undefined>>): StrangeNames {
  const found: StrangeNames = { misspelled: [], unknown: [] };
  for (const [name, value] of Object.entries(env)) {
    if (!value || ours.includes(name) || name === ofClients || isInjected(name, value)) continue;
    const meant = closestOf(name);
    if (meant !== undefined) found.misspelled.push({ name, meant });
    else if (name.startsWith('INLAY_')) {
      const short = name.slice('INLAY_'.length);
      found.unknown.push(
        `Unknown variable ${name} has no effect.${ours.includes(short) ? ` Did you mean ${short}?` : ''}`,
      );
    }
  }
  return found;
}

const prefix = 'INLAY_';
const prefixed = ours.filter((known) => known.startsWith(prefix));
const mostMistakes = 3;

/** Also in another case, and with a mistake in the prefix. Names of ours without the prefix are too common to guess at. */
function closestOf(name: string): string | undefined {
  const upper = name.toUpperCase();
  if (!mayBeginLikeOurs(upper)) return undefined;
  const candidates = prefixed
    .map((known) => ({ known, distance: distanceOf(upper, known) }))
    .filter(({ known, distance }) => distance <= (known.length < 20 ? 2 : mostMistakes))
    .sort((one, other) => one.distance - other.distance);
  return candidates[0]?.known;
}

/**
 * Spares most names of an environment, all of which every command compares, the distance. A mistake spoils one letter of the
 * prefix, and moves those after it by one.
 */
function mayBeginLikeOurs(upper: string): boolean {
  const isNear = (letter: string, index: number) =>
    upper.slice(Math.max(0, index - mostMistakes), index + mostMistakes + 1).includes(letter);
  return [...prefix].filter(isNear).length >= prefix.length - mostMistakes;
}

/** Levenshtein's distance, in which two letters that changed places count as one mistake. */
function distanceOf(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > mostMistakes) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      let least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (isSame ? 0 : 1));
      const areSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (areSwapped) least = Math.min(least, at(before, j - 2) + 1);
      row.push(least);
    }
    before = last;
    last = row;
    // A swap continues from the row before.
    if (Math.min(...last, Math.min(...before) + 1) > mostMistakes) return Number.POSITIVE_INFINITY;
  }
  return at(last, other.length);
}

const at = (row: readonly number[], index: number) => row[index] ?? Number.POSITIVE_INFINITY;
