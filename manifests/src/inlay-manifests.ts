/*
 * The engine as a library: what a declarative manifest can be asked, one function for each command of the connector
 * protocol. A manifest is the text of a YAML or JSON file; a configuration is what its specification asks for.
 *
 * Invariant: functions throw a ManifestError for a manifest that is not supported, and a ConnectorError for anything
 * that the person who configured the source can fix.
 */
import { PassThrough } from 'node:stream';
import { ConnectorError, type Emitter } from '@inlay/protocol/connector';
import type {
  Catalog,
  ConfiguredCatalog,
  ConnectorSpecification,
  LogLevel,
  ManifestDescription,
  RecordMessage,
  State,
  StateMessage,
  StreamDescriptor,
  StreamStatus,
} from '@inlay/protocol/protocol';
import { describeManifest } from './describe.ts';
import { ManifestError } from './manifest/problems.ts';
import { readSpecification } from './manifest/read-manifest.ts';
import { declarativeSource } from './source.ts';

export type { Catalog, ConfiguredCatalog, ConnectorSpecification, ManifestDescription, State };
export { ConnectorError, ManifestError };

export interface SourceOptions {
  /** Whether addresses of private networks and of this machine may be reached. They may not by default. */
  allowPrivateNetworks?: boolean;
  /** Hears what the engine logs, such as a retry. */
  onLog?: (level: LogLevel, message: string) => void;
  /** Hears of a changed configuration that must be kept, such as a refresh token that works once. */
  onConfiguration?: (config: Record<string, unknown>) => void;
}

export type SourceMessage =
  | RecordMessage
  | StateMessage
  | { type: 'STATUS'; stream: string; status: StreamStatus }
  | { type: 'FAILURE'; stream: string; message: string };

/** What a configuration of the source looks like. */
export function spec(manifest: string): ConnectorSpecification {
  return readSpecification(manifest);
}

/** The components of the manifest, and what is unsupported. */
export function describe(manifest: string): ManifestDescription {
  return describeManifest(manifest);
}

/** Resolves if the source can be reached with the configuration, and throws what to fix otherwise. */
export async function check(manifest: string, config: Record<string, unknown>, options?: SourceOptions): Promise<void> {
  await open(manifest, options).check(config, surroundings(options));
}

/** The streams that the source has with the configuration. */
export async function discover(
  manifest: string,
  config: Record<string, unknown>,
  options?: SourceOptions,
): Promise<Catalog> {
  return await open(manifest, options).discover(config, surroundings(options));
}

/**
 * Reads streams, and yields records and states in order: a state covers every record before it. The engine waits while
 * nobody takes what it has read. Leaving the loop early ends the reading with the next message.
 */
export async function* read(
  manifest: string,
  config: Record<string, unknown>,
  catalog: ConfiguredCatalog,
  { state = [], ...options }: SourceOptions & { state?: readonly State[] } = {},
): AsyncGenerator<SourceMessage, void, undefined> {
  const queue = new PassThrough({ objectMode: true });
  const closed = new Promise<void>((resolve) => queue.once('close', resolve));
  const send = (message: SourceMessage): Promise<void> | undefined => {
    if (queue.destroyed) throw new Error('The reader has stopped.');
    return queue.write(message)
      ? undefined
      : Promise.race([new Promise<void>((resolve) => queue.once('drain', resolve)), closed]);
  };
  const emit: Emitter = {
    record: (stream, data) => send({ type: 'RECORD', record: { ...described(stream), data, emitted_at: Date.now() } }),
    // Only connectors that write JSON themselves send records in this way.
    recordOf: () => undefined,
    state: (given) => send({ type: 'STATE', state: given }),
    status: ({ name }, status) => send({ type: 'STATUS', stream: name, status }),
    failure: ({ name }, { message }) => send({ type: 'FAILURE', stream: name, message }),
    report: () => undefined,
    configuration: (changed) => {
      options.onConfiguration?.(changed);
      return undefined;
    },
    log: (level, message) => options.onLog?.(level, message),
  };
  let failure: unknown;
  const reading = open(manifest, options)
    .read(config, catalog, state, emit, surroundings(options))
    .catch((error: unknown) => {
      failure = error;
    })
    // What was sent before a failure is still delivered.
    .finally(() => queue.end());
  try {
    yield* queue.iterator({ destroyOnReturn: false }) as AsyncIterable<SourceMessage>;
    if (failure !== undefined) throw failure;
  } finally {
    queue.destroy();
    await reading;
  }
}

const described = ({ name, namespace }: StreamDescriptor) => ({
  stream: name,
  ...(typeof namespace === 'string' && { namespace }),
});

const open = (manifest: string, { onLog, onConfiguration }: SourceOptions = {}) =>
  declarativeSource(manifest, { onLog, onConfiguration });

const surroundings = ({ allowPrivateNetworks = false }: SourceOptions = {}) => ({
  workspaceDir: undefined,
  readableDirs: [],
  allowPrivateNetworks,
  serviceEndpoints: [],
});
