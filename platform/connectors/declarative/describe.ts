/*
 * Describes a manifest for those who add it: what it can be configured with, which streams it has, what each stream is made
 * of, and what of it cannot run. A manifest is a text from elsewhere, so its depth and its size are limited before anything
 * is done with it: a few aliases of YAML can stand for gigabytes.
 */
import type { DescribedStream, ManifestDescription, Place } from '../../src/protocol.ts';
import { isJsonObject } from '../kit/json.ts';
import { ManifestError, type Problem } from './manifest/problems.ts';
import { type Manifest, readManifest, type StreamEntry } from './manifest/read-manifest.ts';
import { readManifestText } from './manifest/yaml.ts';
import { definitionOf } from './registry.ts';

const mostLevels = 100;
const mostCharacters = 16 * 1024 ** 2;

/** Throws a ManifestError for a text that is no manifest, or too large a manifest. */
export function describeManifest(text: string): ManifestDescription {
  const canonical = asJson(readManifestText(text));
  const manifest = readManifest(canonical);
  const entries = [...manifest.streams, ...manifest.dynamicStreams];
  const ofStreams = new Set(entries.flatMap(({ problems }) => problems));
  const ofRoot = manifest.problems.filter((problem) => !ofStreams.has(problem));
  const streams = [
    ...manifest.streams.map((entry) => describeStream(entry, false)),
    ...manifest.dynamicStreams.map((entry) => describeStream(entry, true)),
  ];
  return {
    manifest: canonical,
    version: manifest.version,
    specification: manifest.specification,
    streams,
    warnings: [...placesOf([...ofRoot, ...ofStreams], 'warning'), ...checkedButLeftOut(manifest, streams)],
    errors: placesOf(ofRoot, 'error'),
  };
}

function describeStream(entry: StreamEntry, isDynamic: boolean): DescribedStream {
  const uses = new Set<string>();
  collectTypes(entry.component, uses);
  const { name, path } = entry;
  return { name, path, isDynamic, uses: [...uses], errors: placesOf(entry.problems, 'error') };
}

function placesOf(problems: readonly Problem[], level: Problem['level']): Place[] {
  return problems.filter((problem) => problem.level === level).map(({ path, message }) => ({ path, message }));
}

/** A schema has types as well, such as `object`; those are no components. */
function collectTypes(node: unknown, types: Set<string>): void {
  if (Array.isArray(node)) for (const item of node) collectTypes(item, types);
  if (!isJsonObject(node)) return;
  if (typeof node.type === 'string' && (definitionOf(node.type) || node.type.startsWith('Custom')))
    types.add(node.type);
  for (const [key, value] of Object.entries(node)) if (key !== '$parameters') collectTypes(value, types);
}

function checkedButLeftOut({ check }: Manifest, streams: readonly DescribedStream[]): Place[] {
  const names = Array.isArray(check?.stream_names) ? check.stream_names : [];
  return names.flatMap((name, index) => {
    const stream = streams.find((one) => one.name === name);
    if (!stream || stream.errors.length === 0) return [];
    const message = `The stream ${stream.name} is left out, so connections are checked without it`;
    return [{ path: `check.stream_names[${index}]`, message }];
  });
}

/** Written piece by piece, so that a manifest that is too large is noticed before it fills the memory. */
function asJson(manifest: unknown): string {
  const pieces: string[] = [];
  let length = 0;
  const write = (piece: string) => {
    length += piece.length;
    if (length > mostCharacters) throw new ManifestError('The manifest is too large. Its aliases make it so.');
    pieces.push(piece);
  };
  const walk = (node: unknown, level: number): void => {
    if (level > mostLevels) throw new ManifestError(`The manifest is nested deeper than ${mostLevels} levels.`);
    if (Array.isArray(node)) {
      write('[');
      for (const [index, item] of node.entries()) {
        if (index > 0) write(',');
        walk(item, level + 1);
      }
      write(']');
    } else if (isJsonObject(node)) {
      write('{');
      for (const [index, [key, value]] of Object.entries(node).entries()) {
        if (key === '__proto__') throw new ManifestError('The manifest has a key that is not allowed: __proto__.');
        write(`${index > 0 ? ',' : ''}${JSON.stringify(key)}:`);
        walk(value, level + 1);
      }
      write('}');
    } else write(JSON.stringify(node) ?? 'null');
  };
  walk(manifest, 1);
  return pieces.join('');
}
