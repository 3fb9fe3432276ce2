/* Reads a manifest: its requirements, its streams, and what is unsupported. */

import { isJsonObject } from '@inlay/protocol/json';
import type { ConnectorSpecification } from '@inlay/protocol/protocol';
import { anything, type ComponentDefinition, type Kind } from '../component.ts';
import { definitionOf } from '../registry.ts';
import { withTypes } from './implied-types.ts';
import { withParameters } from './parameters.ts';
import { asText, describeProblem, ManifestError, type Problem } from './problems.ts';
import { References } from './references.ts';
import { problemsOf } from './validation.ts';
import { readEntryText, readManifestText } from './yaml.ts';

type Component = Record<string, unknown>;

export interface StreamEntry {
  name: string;
  /** Path in the manifest. */
  path: string;
  /** With references resolved and parameters applied. */
  component: Component;
  /** Errors leave the stream out. */
  problems: Problem[];
  /** The dynamic stream that it was made by. */
  group?: string;
}

export interface Manifest {
  version: string;
  specification: ConnectorSpecification;
  /** Static streams, and those that only some configurations have. */
  streams: StreamEntry[];
  dynamicStreams: StreamEntry[];
  check: Component | undefined;
  spec: Component;
  /** Settings for all streams: concurrency, call budget, groups. */
  root: Component;
  /** Components of the whole manifest, including all streams. */
  problems: Problem[];
}

/** The largest version of the language that this engine was made for. */
const knownVersion = [7, 99];

type Definitions = (name: string) => ComponentDefinition | undefined;

/** Throws a ManifestError for text that is not a manifest. */
export function readManifest(text: string, definitions: Definitions = definitionOf): Manifest {
  const raw = readManifestText(text);
  const references = new References(raw);
  const resolved = (name: string) => (references.resolve({ [name]: raw[name] ?? null }) as Component)[name];
  const problems: Problem[] = [];
  const root: Component = { type: raw.type ?? 'DeclarativeSource' };
  if (root.type !== 'DeclarativeSource')
    throw new ManifestError('A manifest must be an object with `type: DeclarativeSource`.');
  const parameters = isJsonObject(raw.$parameters) ? (references.resolve(raw.$parameters) as Component) : {};
  for (const name of [
    'check',
    'spec',
    'concurrency_level',
    'api_budget',
    'max_concurrent_async_job_count',
    'stream_groups',
  ]) {
    const value = raw[name] === undefined || raw[name] === null ? undefined : resolved(name);
    if (value !== undefined) {
      const given = isJsonObject(value) ? withParameters(`DeclarativeSource.${name}`, value, parameters) : value;
      root[name] = withTypes(given, kindOf(name), definitionOf);
    }
  }
  const spec = isJsonObject(root.spec) ? root.spec : {};
  const entries = (name: 'streams' | 'dynamic_streams') =>
    readEntries(resolved(name) ?? [], name, parameters, definitions);
  const streams = entries('streams');
  const dynamicStreams = entries('dynamic_streams');
  if (streams.length + dynamicStreams.length === 0) throw new ManifestError('The manifest has no streams.');
  const version = asText(raw.version ?? '');
  problems.push(...problemsOfRoot(raw, root, version), ...problemsOfOverrides(root, text));
  return {
    version,
    specification: specificationOf(spec),
    streams,
    dynamicStreams,
    check: isJsonObject(root.check) ? root.check : undefined,
    spec,
    root,
    get problems() {
      return [...problems, ...[...streams, ...dynamicStreams].flatMap((entry) => entry.problems)];
    },
  };
}

/** Only the specification, which takes a fraction of the time. Throws a ManifestError. */
export function readSpecification(text: string): ConnectorSpecification {
  const alone = readEntryText(text, 'spec');
  if (isJsonObject(alone)) return specificationOf(alone);
  const raw = readManifestText(text);
  const spec = new References(raw).resolve(raw.spec ?? {});
  return specificationOf(isJsonObject(spec) ? spec : {});
}

function readEntries(list: unknown, name: string, parameters: Component, definitions: Definitions): StreamEntry[] {
  if (!Array.isArray(list)) throw new ManifestError(`The ${name} of the manifest must be a list.`);
  return list.map((item, index) => {
    const path = `${name}[${index}]`;
    if (!isJsonObject(item)) throw new ManifestError(`${path} is not a stream.`);
    const component = withTypes(
      withParameters(`DeclarativeSource.${name}`, item, parameters),
      itemKindOf(name),
      definitions,
    );
    let problems: Problem[] | undefined;
    return {
      name: asText(component.name ?? ''),
      path,
      component,
      // A manifest of a megabyte has thousands of components: they are read lazily.
      get problems() {
        problems ??= problemsOf(
          component,
          name === 'streams'
            ? ['DeclarativeStream', 'ConditionalStreams', 'StateDelegatingStream']
            : ['DynamicDeclarativeStream'],
          path,
          definitions,
        );
        return problems;
      },
    };
  });
}

function problemsOfRoot(raw: Component, root: Component, version: string): Problem[] {
  const problems: Problem[] = [];
  const source = definitionOf('DeclarativeSource');
  for (const name of Object.keys(raw)) {
    if (name !== 'type' && name !== '$parameters' && !(name in (source?.options ?? {}))) {
      problems.push({ level: 'warning', path: name, message: `DeclarativeSource has no option ${name}` });
    }
  }
  for (const name of ['check', 'spec', 'concurrency_level', 'api_budget']) {
    const kind = source?.options[name]?.kind;
    if (root[name] === undefined || kind?.is !== 'component') continue;
    problems.push(...problemsOf(root[name], kind.of, name, definitionOf));
  }
  const groups = isJsonObject(root.stream_groups) ? root.stream_groups : {};
  for (const [name, group] of Object.entries(groups)) {
    problems.push(...problemsOf(group, ['StreamGroup'], `stream_groups.${name}`, definitionOf).map(asWarning));
  }
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [knownMajor = 0, knownMinor = 0] = knownVersion;
  if (major > knownMajor || (major === knownMajor && minor > knownMinor)) {
    const message = `The manifest has version ${version}, which is newer than this engine. Unsupported parts are listed here.`;
    problems.push({ level: 'warning', path: 'version', message });
  }
  return problems;
}

/** A token that is kept in the configuration would be kept together with values that are for the check alone. */
function problemsOfOverrides({ check }: Component, text: string): Problem[] {
  const overrides = isJsonObject(check) ? check.config_overrides : undefined;
  if (!isJsonObject(overrides) || !text.includes('refresh_token_updater')) return [];
  const message = 'A manifest with a refresh_token_updater cannot have config_overrides';
  return [{ level: 'error', path: 'check.config_overrides', message }];
}

/** What an option of the manifest itself may be. */
function kindOf(name: string): Kind {
  return definitionOf('DeclarativeSource')?.options[name]?.kind ?? anything;
}

/** The same for one item of a list. */
function itemKindOf(name: string): Kind {
  const kind = kindOf(name);
  return kind.is === 'list' ? kind.of : anything;
}

/** An unsupported group leaves its streams ungrouped. */
function asWarning(problem: Problem): Problem {
  return { ...problem, level: 'warning' };
}

function specificationOf(spec: Component): ConnectorSpecification {
  const { connection_specification: schema, documentation_url: documentationUrl, advanced_auth: consent } = spec;
  return {
    connectionSpecification: (isJsonObject(schema)
      ? schema
      : { type: 'object', properties: {} }) as ConnectorSpecification['connectionSpecification'],
    ...(typeof documentationUrl === 'string' && { documentationUrl }),
    ...(isJsonObject(consent) && { advanced_auth: consent }),
  };
}

/** What keeps a stream from running, in one line each. */
export function errorsOf({ problems }: StreamEntry): string[] {
  return problems.filter(({ level }) => level === 'error').map(describeProblem);
}
