/*
 * Describes a manifest for the people who add it: its configuration, its streams, the components of each, and what is
 * unsupported. Manifests are untrusted text, and a few YAML aliases can expand to gigabytes: so depth, nodes and bytes
 * are limited with every alias expanded, before anything else. The description is limited too, because its reader
 * receives it in one piece.
 */
import { checkableSchema, SpecificationTooLarge, validatorOptions } from '@inlay/contract/catalog/checkable-schema';
import { isJsonObject } from '@inlay/protocol/json';
import type { ConnectorSpecification, DescribedStream, ManifestDescription, Place } from '@inlay/protocol/protocol';
import { Ajv } from 'ajv';
import { ManifestError, type Problem } from './manifest/problems.ts';
import { type Manifest, readManifest, type StreamEntry } from './manifest/read-manifest.ts';
import { secretAddresses, withAddressMarks } from './manifest/secret-addresses.ts';
import { readManifestText } from './manifest/yaml.ts';
import { definitionOf } from './registry.ts';
import { compileTemplate } from './template/template.ts';

const mostLevels = 100;
const mostNodes = 1_000_000;
const mostBytes = 16 * 1024 ** 2;
const mostStreams = 5_000;
const mostBytesOfSpecification = 1024 ** 2;
/** Limit per kind, in one stream or outside streams. */
const mostPlaces = 200;
const longestWords = 1_000;

/** Throws a ManifestError for text that is not a manifest, or one that is too large. */
export function describeManifest(text: string): ManifestDescription {
  const canonical = asJson(readManifestText(text));
  const manifest = readManifest(canonical);
  const entries = [...manifest.streams, ...manifest.dynamicStreams];
  if (entries.length > mostStreams) throw new ManifestError(`The manifest has more than ${mostStreams} streams.`);
  // References may have made it larger than the text.
  asJson(manifest.specification, 'specification of the manifest', mostBytesOfSpecification);
  const ofStreams = new Set(entries.flatMap(({ problems }) => problems));
  const ofRoot = manifest.problems.filter((problem) => !ofStreams.has(problem));
  const streams = [
    ...manifest.streams.map((entry) => describeStream(entry, false)),
    ...manifest.dynamicStreams.map((entry) => describeStream(entry, true)),
  ];
  const { addresses, settings } = secretAddresses(manifest);
  const { specification } = manifest;
  return {
    manifest: canonical,
    version: manifest.version,
    specification: {
      ...specification,
      connectionSpecification: withAddressMarks(specification.connectionSpecification, settings),
    },
    streams,
    warnings: [
      ...placesOf([...ofRoot, ...ofStreams, ...entries.flatMap(unreadableTemplates)], 'warning'),
      ...checkedButLeftOut(manifest, streams),
    ],
    addresses,
    errors: [...placesOf(ofRoot, 'error'), ...specificationErrors(manifest.specification.connectionSpecification)],
  };
}

/** Compiled here, in a process with limits, and in every form in which the service and the platform compile it later. */
function specificationErrors(schema: ConnectorSpecification['connectionSpecification']): Place[] {
  const path = 'spec.connection_specification';
  try {
    for (const isPartial of [false, true]) {
      new Ajv({ ...validatorOptions, logger: false }).compile(checkableSchema(schema, isPartial));
    }
    const { $schema: _dialect, ...plain } = schema;
    new Ajv({ ...validatorOptions, discriminator: false, logger: false }).compile(plain);
    return [];
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof SpecificationTooLarge)
      return [{ path, message: `The specification is too large: ${message}` }];
    return [{ path, message: cut(`The schema is not a valid JSON Schema: ${message}`) }];
  }
}

function describeStream(entry: StreamEntry, isDynamic: boolean): DescribedStream {
  const uses = new Set<string>();
  collectTypes(entry.component, uses);
  const { name, path } = entry;
  return { name, path, isDynamic, uses: [...uses], errors: placesOf(entry.problems, 'error') };
}

/** Warnings: a stream fails only when it renders such a template. Schemas and descriptions are not templates. */
function unreadableTemplates({ component, path }: StreamEntry): Problem[] {
  const found: Problem[] = [];
  const look = (node: unknown, at: string): void => {
    if (typeof node === 'string' && /\{[{%]/.test(node)) {
      try {
        compileTemplate(node);
      } catch (error) {
        const message = `The template is not valid. ${(error as Error).message}: ${node}`;
        found.push({ level: 'warning', path: at, message });
      }
    } else if (Array.isArray(node)) for (const [index, item] of node.entries()) look(item, `${at}[${index}]`);
    else if (isJsonObject(node)) {
      for (const [key, item] of Object.entries(node)) if (!noTemplates.has(key)) look(item, `${at}.${key}`);
    }
  };
  look(component, path);
  return found;
}

const noTemplates = new Set(['$parameters', 'description', 'schema', 'schema_loader']);

function placesOf(problems: readonly Problem[], level: Problem['level']): Place[] {
  const found = problems.filter((problem) => problem.level === level);
  const shown = found.slice(0, mostPlaces).map(({ path, message }) => ({ path: cut(path), message: cut(message) }));
  if (found.length > mostPlaces) shown.push({ path: '', message: `${found.length - mostPlaces} more problems` });
  return shown;
}

function cut(text: string): string {
  return text.length > longestWords ? `${text.slice(0, longestWords)}…` : text;
}

/** Schemas also have types, such as `object`; those are not components. */
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
    const message = `The stream ${stream.name} is skipped, so connections are checked without it`;
    return [{ path: `check.stream_names[${index}]`, message }];
  });
}

/** Written piece by piece, so that a manifest that is too large is noticed before it fills the memory. */
function asJson(manifest: unknown, what = 'manifest', most = mostBytes): string {
  const pieces: string[] = [];
  let bytes = 0;
  let nodes = 0;
  const write = (piece: string) => {
    bytes += Buffer.byteLength(piece);
    if (bytes > most) {
      const limit = `${most / 1024 ** 2} MiB`;
      throw new ManifestError(`The ${what} is too large. With aliases resolved, it exceeds ${limit}.`);
    }
    pieces.push(piece);
  };
  const walk = (node: unknown, level: number): void => {
    if (level > mostLevels) throw new ManifestError(`The ${what} is nested more than ${mostLevels} levels deep.`);
    if (++nodes > mostNodes) {
      throw new ManifestError(`The ${what} is too large. With aliases resolved, it has more than ${mostNodes} values.`);
    }
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
        if (key === '__proto__') throw new ManifestError('The key __proto__ is not allowed in a manifest.');
        write(`${index > 0 ? ',' : ''}${JSON.stringify(key)}:`);
        walk(value, level + 1);
      }
      write('}');
    } else write(JSON.stringify(node) ?? 'null');
  };
  walk(manifest, 1);
  return pieces.join('');
}
