/*
 * A manifest as a source: its commands, for any configuration.
 * Long because all commands share what they make of a configuration: streams, authentication, budgets and the clock.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpClientOptions, httpClient } from '@inlay/guard/http-client';
import {
  type Configuration,
  ConnectorError,
  type Emitter,
  type SourceConnector,
  type StreamFailure,
  type Surroundings,
} from '@inlay/protocol/connector';
import { isJsonObject, parseJson, stringifyJson } from '@inlay/protocol/json';
import type { Catalog, ConfiguredCatalog, LogLevel, State, Stream } from '@inlay/protocol/protocol';
import { Slots } from '@inlay/protocol/slots';
import { type ComponentDefinition, component as componentKind, Given, type Making } from './component.ts';
import type { ConfigRules } from './components/config-rules.ts';
import type { ComponentsResolver } from './components/dynamic-streams.ts';
import { DateTime } from './dates/date-time.ts';
import { Budget, type BudgetRules } from './http/budget.ts';
import { Transport } from './http/transport.ts';
import { withTypes } from './manifest/implied-types.ts';
import { withParameters } from './manifest/parameters.ts';
import { describeError } from './manifest/places.ts';
import { asText, describeProblem, ManifestError } from './manifest/problems.ts';
import { errorsOf, type Manifest, readManifest, type StreamEntry } from './manifest/read-manifest.ts';
import { definitionOf } from './registry.ts';
import { setAtPath } from './run/paths.ts';
import { failureOf, readStreams, type StreamToRead } from './run/read-streams.ts';
import type { Run, WaitReason } from './run/run.ts';
import type { SourceStream } from './run/stream.ts';

export interface SourceOptions {
  /** Components in addition to the language, or replacing its own: bundled connectors can add some. */
  components?: readonly ComponentDefinition[];
  /** How its requests are sent. */
  client?: HttpClientOptions & { answerBytes?: number };
  /** The clock of templates and cursors stands still at this time. */
  now?: DateTime | undefined;
  /** No wait is waited for. The seconds of those before retries are added to this file. */
  waitsFile?: string | undefined;
  /** A state behind every slice of every stream, for tests that cut a sync off. */
  statesEverySlice?: boolean;
  /** Notified of a migrated configuration, by commands that output only their result. */
  onConfiguration?: ((config: Configuration) => void) | undefined;
  /** Hears what these commands have to say besides. */
  onLog?: ((level: LogLevel, message: string) => void) | undefined;
}

/** A stream that is not opened yet. */
export interface ClosedStream {
  name: string;
  /** Throws an Error if the configuration does not allow it. */
  open(): SourceStream;
}

export interface DeclarativeSource extends SourceConnector {
  /** For connectors with their own check and discovery: works with the streams, without any state. */
  withStreams<Result>(
    config: Configuration,
    surroundings: Surroundings,
    work: (streams: ClosedStream[]) => Promise<Result>,
  ): Promise<Result>;
}

/** Throws a ManifestError. */
export function declarativeSource(text: string, options: SourceOptions = {}): DeclarativeSource {
  let read: Manifest | undefined;
  const manifest = () => {
    read ??= readManifest(text, definitionsOf(options));
    return read;
  };
  return {
    kind: 'source',
    get specification() {
      return manifest().specification;
    },
    subject: [],
    async check(config, surroundings) {
      await withSource(manifest(), config, surroundings, options, quiet(options), (source) => source.check());
      return undefined;
    },
    discover: (config, surroundings) =>
      withSource(manifest(), config, surroundings, options, quiet(options), (source) => source.discover()),
    read: (config, catalog, state, emit, surroundings) =>
      withSource(manifest(), config, surroundings, options, emit, (source) => source.read(catalog, state)),
    withStreams: (config, surroundings, work) =>
      withSource(manifest(), config, surroundings, options, quiet(options), async (source) =>
        work(await source.streams()),
      ),
  };
}

function definitionsOf({ components = [] }: SourceOptions): (name: string) => ComponentDefinition | undefined {
  const own = new Map(components.map((definition) => [definition.name, definition]));
  return (name) => own.get(name) ?? definitionOf(name);
}

/** For commands that output only their result. */
function quiet({ onConfiguration, onLog }: SourceOptions): Emitter {
  return {
    record: () => undefined,
    recordOf: () => undefined,
    state: () => undefined,
    status: () => undefined,
    report: () => undefined,
    configuration: (config) => {
      onConfiguration?.(config);
      return undefined;
    },
    log: (level, message) => onLog?.(level, message),
  };
}

async function withSource<Result>(
  manifest: Manifest,
  config: Configuration,
  surroundings: Surroundings,
  options: SourceOptions,
  emit: Emitter,
  work: (source: OpenSource) => Promise<Result>,
): Promise<Result> {
  const { answerBytes, ...clientOptions } = options.client ?? {};
  const transport = new Transport(httpClient(surroundings, { silenceMs: 5 * 60_000, ...clientOptions }), answerBytes);
  const run = makeRun(transport, options, emit, surroundings.signIn);
  try {
    const source = new OpenSource(manifest, copyJson(config), run, emit, options);
    await source.prepare();
    return await work(source);
  } catch (error) {
    throw withPlace(error, manifest);
  } finally {
    await transport.close();
  }
}

function makeRun(
  transport: Transport,
  { now, waitsFile }: SourceOptions,
  emit: Emitter,
  signIn: Surroundings['signIn'],
): Run {
  const clock = {
    now: () => now ?? DateTime.fromMilliseconds(Date.now()),
    seconds: () => now?.timestamp ?? Date.now() / 1000,
  };
  let skipped = 0;
  const wait = async (seconds: number, reason: WaitReason) => {
    if (waitsFile === undefined) return void (await sleep(seconds * 1000));
    skipped += seconds;
    if (reason === 'retry' && seconds >= 0.5) appendFileSync(waitsFile, `${seconds}\n`);
  };
  // Even with a frozen template clock, time passes for call budgets.
  const startedAt = performance.now();
  const passing = () =>
    skipped + (now === undefined ? Date.now() / 1000 : now.timestamp + (performance.now() - startedAt) / 1000);
  return {
    clock,
    wait,
    transport,
    budget: new Budget(passing, (seconds) => wait(seconds, 'budget')),
    jobs: new Slots(1),
    signIn,
    log: (level: LogLevel, message: string) => emit.log(level, message),
    rateLimited: (stream) => void emit.status(stream, 'RUNNING', [{ type: 'RATE_LIMITED' }]),
    configurationChanged: async (config) => {
      await emit.configuration?.(copyJson(config));
    },
  };
}

/** The reference runtime reads two slices at a time unless the manifest says otherwise. */
const defaultConcurrency = 2;

/** A manifest with a configuration. */
class OpenSource {
  readonly #manifest: Manifest;
  readonly #making: Making;
  readonly #emit: Emitter;
  readonly #options: SourceOptions;
  #found: StreamEntry[] | undefined;

  constructor(manifest: Manifest, config: Configuration, run: Run, emit: Emitter, options: SourceOptions) {
    this.#manifest = manifest;
    this.#emit = emit;
    this.#options = options;
    this.#making = { config, run, streamName: '', configured: new Map(), definition: definitionsOf(options) };
    const jobs = this.#given.inside({ count: manifest.root.max_concurrent_async_job_count }).rendered('count');
    if (jobs !== undefined) run.jobs = new Slots(Number(jobs) || 1);
    const budget = manifest.root.api_budget;
    if (isJsonObject(budget)) run.budget.rules = this.#given.make<BudgetRules>(budget);
  }

  /** Brings the configuration up to date and checks it. Throws a ConnectorError that says what to change. */
  async prepare(): Promise<void> {
    const { config, run } = this.#making;
    this.#followSignIn(copyJson(config));
    const rules = this.#rules;
    if (!rules) return;
    const before = stringifyJson(config);
    try {
      rules.migrate(config);
      if (stringifyJson(config) !== before) await run.configurationChanged(config);
      rules.transform(config);
      rules.validate(config);
    } catch (error) {
      const at = 'spec.config_normalization_rules';
      const given = this.#manifest.spec.config_normalization_rules as Record<string, unknown>;
      throw new ConnectorError(describeError(error, given, at), { cause: error });
    }
  }

  get #rules(): ConfigRules | undefined {
    const given = this.#manifest.spec.config_normalization_rules;
    return isJsonObject(given) ? this.#given.make<ConfigRules>(given) : undefined;
  }

  /** A fresh token goes where the first one was, and to wherever the manifest has copied that. */
  #followSignIn(original: Configuration): void {
    const { config, run } = this.#making;
    run.signIn?.onFresh((values) => {
      for (const [name, path] of Object.entries(run.signIn?.fields ?? {})) {
        if (Object.hasOwn(values, name)) setAtPath(original, path, values[name]);
      }
      const renewed = copyJson(original);
      this.#rules?.migrate(renewed);
      this.#rules?.transform(renewed);
      Object.assign(config, renewed);
    });
  }

  get #given(): Given {
    return new Given({ type: 'DeclarativeSource' }, this.#making);
  }

  /** The streams that can run with this configuration. */
  async #entries(): Promise<StreamEntry[]> {
    const entries: StreamEntry[] = [];
    const all = this.#manifest.streams.flatMap((one) => this.#conditional(one));
    for (const entry of [...all, ...(await this.#dynamic())]) {
      const errors = errorsOf(entry);
      if (errors.length === 0) entries.push(entry);
      else this.#leaveOut(entry.name, `${errors.join('. ')}.`);
    }
    if (entries.length === 0) {
      const problem = this.#manifest.problems.find(({ level }) => level === 'error');
      throw new ManifestError(`The manifest has no supported streams. ${problem ? describeProblem(problem) : ''}`);
    }
    return entries;
  }

  /** Streams that only some configurations have. */
  #conditional(entry: StreamEntry): StreamEntry[] {
    const { component, path, problems } = entry;
    if (component.type !== 'ConditionalStreams') return [entry];
    const given = this.#given.inside(component);
    try {
      if (!given.condition('condition')?.isMet()) return [];
    } catch (error) {
      this.#leaveOut(entry.name || path, describeFault(error, entry));
      return [];
    }
    const streams = (component.streams as Record<string, unknown>[] | undefined) ?? [];
    return streams.map((stream, index) => {
      const own = `${path}.streams[${index}]`;
      return {
        name: asText(stream.name ?? ''),
        path: own,
        component: stream,
        problems: problems.filter(
          (problem) => problem.path.startsWith(own) || !problem.path.startsWith(`${path}.streams[`),
        ),
      };
    });
  }

  /** Dynamic streams are resolved once per run. */
  async #dynamic(): Promise<StreamEntry[]> {
    if (this.#found) return this.#found;
    const found: StreamEntry[] = [];
    for (const [index, entry] of this.#manifest.dynamicStreams.entries()) {
      const { component, path } = entry;
      if (errorsOf(entry).length > 0) {
        found.push(entry);
        continue;
      }
      const given = this.#given.inside(component);
      const resolver = given.child<ComponentsResolver>('components_resolver');
      const group = groupName(entry, index);
      const streamTemplate = component.stream_template as Record<string, unknown>;
      for await (const resolved of resolver?.resolve(streamTemplate) ?? []) {
        const filled = withParameters('', resolved, {}, given.flag('use_parent_parameters', true));
        filled.type ??= 'DeclarativeStream';
        const stream = withTypes(
          filled,
          componentKind('DeclarativeStream', 'StateDelegatingStream'),
          this.#making.definition,
        );
        const name = asText(stream.name ?? '');
        if (found.some((one) => one.name === name)) {
          throw new ConnectorError(`Two streams are named ${name}. Give each stream a unique name.`);
        }
        found.push({ name, path: `${path}.stream_template`, component: stream, problems: [], group });
      }
    }
    this.#found = found;
    return found;
  }

  #open({ component, name }: StreamEntry, state: Record<string, unknown>): SourceStream {
    return this.#given.make<SourceStream>(component, { state, mayCache: this.#parentNames.has(name) });
  }

  #leaveOut(name: string, why: string): void {
    this.#making.run.log('WARN', `The stream ${name} is skipped. ${why}`);
  }

  /** Streams that others take their partitions from: what they ask for is kept for the others. */
  get #parentNames(): Set<string> {
    const names = new Set<string>();
    for (const { component } of this.#manifest.streams) {
      const retriever = isJsonObject(component.retriever) ? component.retriever : {};
      const routers = Array.isArray(retriever.partition_router)
        ? retriever.partition_router
        : [retriever.partition_router];
      for (const router of routers) {
        const parents =
          isJsonObject(router) && Array.isArray(router.parent_stream_configs) ? router.parent_stream_configs : [];
        for (const { stream } of parents as { stream?: { name?: unknown } }[]) names.add(String(stream?.name));
      }
    }
    return names;
  }

  /** Throws a ConnectorError that says what does not work. */
  async check(): Promise<void> {
    const { config_overrides: overrides } = this.#manifest.check ?? {};
    if (isJsonObject(overrides)) {
      const fault = this.#manifest.problems.find(({ level, path }) => level === 'error' && path.startsWith('check'));
      if (fault) throw new ManifestError(describeProblem(fault));
      // The configuration stays the same object: those who hold it see the change.
      Object.assign(this.#making.config, overrides);
    }
    const given = this.#given.inside(this.#manifest.check ?? {});
    const entries = await this.#entries();
    if (given.type === 'CheckDynamicStream') {
      if (!given.flag('use_check_availability', true)) return;
      for (const entry of entries.slice(0, given.number('stream_count') ?? 0)) await this.#checkStream(entry);
      return;
    }
    const names = this.#checkedNames(given);
    // A stream that needs code is skipped everywhere, including in the check.
    const leftOut = this.#manifest.streams.filter((entry) => errorsOf(entry).length > 0).map(({ name }) => name);
    for (const name of names.filter((one) => !leftOut.includes(one))) {
      const entry = entries.find((one) => one.name === name);
      if (!entry) throw new ConnectorError(`The stream ${name} for the connection check does not exist.`);
      await this.#checkStream(entry);
    }
    const [first] = entries;
    if (first && names.length > 0 && names.every((name) => leftOut.includes(name))) await this.#checkStream(first);
    for (const value of (given.value('dynamic_streams_check_configs') as unknown[] | undefined) ?? []) {
      const one = given.inside(value);
      const name = one.text('dynamic_stream_name') ?? '';
      if (!this.#manifest.dynamicStreams.some((entry, index) => groupName(entry, index) === name))
        throw new ConnectorError(`The dynamic stream ${name} for the connection check does not exist.`);
      const group = entries.filter((entry) => entry.group === name);
      for (const entry of group.slice(0, one.number('stream_count') ?? group.length)) await this.#checkStream(entry);
    }
  }

  /** A configuration may name other streams than the manifest, for users who may not read all of them. */
  #checkedNames(given: Given): string[] {
    const named = this.#making.config.airbyte_check_stream_names;
    if (named === undefined || named === null) return given.texts('stream_names');
    if (!Array.isArray(named) || !named.every((name) => typeof name === 'string'))
      throw new ConnectorError('airbyte_check_stream_names must be a list of stream names.');
    return named;
  }

  async #checkStream(entry: StreamEntry): Promise<void> {
    try {
      const stream = this.#open(entry, {});
      for await (const slice of stream.cursor.slices()) {
        // One record says that the rest can be read, too. No record says it as well.
        for await (const _records of stream.read(slice)) break;
        return;
      }
    } catch (error) {
      throw new ConnectorError(`Stream ${entry.name} is not available: ${describeFault(error, entry)}`, {
        cause: error,
        fields: failureOf(error).fields,
      });
    }
    throw new ConnectorError(
      `Stream ${entry.name} is not available: there is no partition to read, such as a parent record.`,
    );
  }

  async streams(): Promise<ClosedStream[]> {
    return (await this.#entries()).map((entry) => ({ name: entry.name, open: () => this.#open(entry, {}) }));
  }

  /**
   * A stream that cannot be opened with this configuration is skipped. Without any stream, the first error is thrown.
   */
  async discover(): Promise<Catalog> {
    const streams: Stream[] = [];
    let first: ConnectorError | undefined;
    for (const entry of await this.#entries()) {
      let stream: SourceStream;
      let schema: Stream['json_schema'];
      try {
        stream = this.#open(entry, {});
        schema = await stream.schema();
      } catch (error) {
        const { message: fault, failureType, fields } = failureOf(error, (one) => describeFault(one, entry));
        const words = `The stream ${entry.name} cannot be opened. ${fault}`;
        // During an outage the stream is there, and must not seem to have gone.
        if (failureType === 'transient_error') throw new ConnectorError(words, { failureType, fields, cause: error });
        this.#leaveOut(entry.name, fault);
        first ??= new ConnectorError(words, { cause: error, fields });
        continue;
      }
      const { cursorField } = stream.cursor;
      streams.push({
        name: stream.name,
        json_schema: schema,
        supported_sync_modes: cursorField === undefined ? ['full_refresh'] : ['full_refresh', 'incremental'],
        is_resumable: cursorField !== undefined,
        ...(cursorField !== undefined && {
          source_defined_cursor: !stream.isCursorOpen,
          default_cursor_field: [cursorField],
        }),
        ...(stream.primaryKey.length > 0 && { source_defined_primary_key: stream.primaryKey }),
      });
    }
    if (first && streams.length === 0) throw first;
    return { streams };
  }

  async read({ streams: configured }: ConfiguredCatalog, states: readonly State[]): Promise<void> {
    this.#making.configured = new Map(configured.map((one) => [one.stream.name, one]));
    const entries = await this.#entries();
    const known = statesByStream(states);
    const toRead = configured.map(({ stream: { name } }): StreamToRead => {
      const entry = entries.find((one) => one.name === name);
      // Pass no state to read a stream from its start.
      const state = known.get(name) ?? {};
      return {
        name,
        groups: entry ? this.#groupsOf(entry) : [],
        open: entry && openedBefore(() => this.#open(entry, copyJson(state))),
        describe: entry && ((error) => describeFault(error, entry)),
      };
    });
    failTogether(toRead);
    const failed = await readStreams(toRead, this.#emit, this.#concurrency(), this.#options.statesEverySlice);
    const [first] = failed.values();
    if (!first) return;
    const names = [...failed.keys()].join(', ');
    if (first.failureType === 'system_error') throw new Error(`These streams failed: ${names}. ${first.message}`);
    throw new ConnectorError(`These streams failed: ${names}. ${first.message}`, {
      failureType: first.failureType,
      fields: first.fields,
    });
  }

  /** The groups of streams that the manifest does not let be read at the same time: of the stream and of its parents. */
  #groupsOf({ component }: StreamEntry): string[] {
    const { stream_groups: groups } = this.#manifest.root;
    if (!isJsonObject(groups)) return [];
    const names = [component, ...ancestorsOf(component)].map(({ name }) => String(name));
    return Object.entries(groups).flatMap(([group, value]) => {
      const streams = isJsonObject(value) && Array.isArray(value.streams) ? value.streams : [];
      return streams.some((stream) => names.includes(String(isJsonObject(stream) ? stream.name : stream)))
        ? [group]
        : [];
    });
  }

  #concurrency(): number {
    const level = this.#manifest.root.concurrency_level;
    if (!isJsonObject(level)) return defaultConcurrency;
    const given = this.#given.inside(level);
    const wanted = Number(given.rendered('default_concurrency')) || defaultConcurrency;
    const most = given.number('max_concurrency') ?? wanted;
    return Math.max(defaultConcurrency, Math.min(wanted, most));
  }
}

/** The streams that a stream takes its partitions from, and theirs. */
function ancestorsOf({ retriever }: Record<string, unknown>): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  for (const open = isJsonObject(retriever) ? [retriever.partition_router] : []; open.length > 0; ) {
    const router = open.pop();
    if (Array.isArray(router)) open.push(...router);
    if (!isJsonObject(router)) continue;
    open.push(router.underlying_partition_router, router.partition_routers);
    const parents = Array.isArray(router.parent_stream_configs) ? router.parent_stream_configs : [];
    for (const { stream } of parents.filter(isJsonObject)) {
      if (isJsonObject(stream)) found.push(stream, ...ancestorsOf(stream));
    }
  }
  return found;
}

/** Makes the stream at once, and throws its error when it is wanted. */
function openedBefore(open: () => SourceStream): () => SourceStream {
  let opened: { stream: SourceStream } | { error: unknown };
  try {
    opened = { stream: open() };
  } catch (error) {
    opened = { error };
  }
  return () => {
    if ('error' in opened) throw opened.error;
    return opened.stream;
  };
}

/** If no stream at all can be created, the manifest or the configuration is at fault, and nothing is read. */
function failTogether(streams: readonly StreamToRead[]): void {
  let first: { failure: StreamFailure; cause: unknown } | undefined;
  for (const { open, describe } of streams) {
    if (!open) continue;
    try {
      open();
      return;
    } catch (cause) {
      first ??= { failure: failureOf(cause, describe), cause };
    }
  }
  if (!first) return;
  throw errorOf(first.failure, first.cause);
}

function errorOf({ message, failureType, fields }: StreamFailure, cause: unknown): Error {
  if (failureType === 'system_error') return new Error(message, { cause });
  return new ConnectorError(message, { failureType, fields, cause });
}

/** For errors that belong to no stream. */
function withPlace(error: unknown, { root: parts, dynamicStreams }: Manifest): unknown {
  const root = { ...parts, dynamic_streams: dynamicStreams.map(({ component }) => component) };
  const failure = failureOf(error, (one) => describeError(one, root, ''));
  return failure.message === (error as Error).message ? error : errorOf(failure, error);
}

/** With the path in the manifest, if known. */
function describeFault(error: unknown, { component, path }: StreamEntry): string {
  return describeError(error, component, path);
}

function groupName({ component }: StreamEntry, index: number): string {
  return asText(component.name ?? `dynamic_stream_${index}`);
}

function copyJson(value: Record<string, unknown>): Record<string, unknown> {
  return parseJson(stringifyJson(value)) as Record<string, unknown>;
}

function statesByStream(states: readonly State[]): Map<string, Record<string, unknown>> {
  const all = states.flatMap(({ stream, global, data }) => [
    ...(stream ? [stream] : []),
    ...(global?.stream_states ?? []),
    ...Object.entries(data ?? {}).map(([name, value]) => ({ stream_descriptor: { name }, stream_state: value })),
  ]);
  return new Map(
    all.map(({ stream_descriptor: { name }, stream_state: state }) => [name, isJsonObject(state) ? state : {}]),
  );
}
