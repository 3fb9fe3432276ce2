/*
 * The destination `local-files`: a folder per stream below the workspace's own folder; see stream-files.ts for what
 * readers can rely on.
 *
 * A state is confirmed only when all records before it are on the disk and visible. That is done for many states at
 * once, because each time the open files are finished: a state every 10,000 records would otherwise make thousands of
 * small files. What a killed sync loses of its work is what came since, and the source sends that again.
 */
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Configuration,
  ConnectorError,
  type DestinationConnector,
  type DestinationInput,
  type Emitter,
  type Surroundings,
} from '@inlay/protocol/connector';
import { type ConfiguredCatalog, type State, streamKey } from '@inlay/protocol/protocol';
import { attemptOf } from '../kit/attempts.ts';
import { Holdings } from '../kit/holdings.ts';
import { hiddenName, makeFolder } from './folders.ts';
import { type FormatName, lineFormat } from './formats.ts';
import type { Compression } from './part-file.ts';
import { RunFolder } from './run-folder.ts';
import { specification } from './specification.ts';
import { StreamFiles } from './stream-files.ts';

const finishAfterMs = 30_000;
const finishAfterBytes = 64 * 1024 * 1024;

export const connector: DestinationConnector = {
  kind: 'destination',
  specification,

  async check(config, surroundings) {
    const { target } = await explained(() => openTarget(config, surroundings));
    await explained(async () => {
      const file = join(target, hiddenName('check'));
      await (await open(file, 'w', 0o600)).close();
      await rm(file);
    });
  },

  async write(config, catalog, input, emit, surroundings) {
    await explained(async () => {
      const { target, ...how } = await openTarget(config, surroundings);
      const runFolder = await RunFolder.open(target, attemptOf(catalog));
      try {
        const streams = await openStreams(target, runFolder, catalog, how, emit);
        if (streams) await writeStreams(streams, input, new Holdings(catalog, emit), emit);
        await runFolder.end();
      } catch (error) {
        throw await runFolder.explain(error);
      }
    });
  },
};

type Streams = ReadonlyMap<string, StreamFiles>;

/** Undefined where folders are gone that states rely on: the platform forgets the states first, and comes again. */
async function openStreams(
  target: string,
  runFolder: RunFolder,
  catalog: ConfiguredCatalog,
  { format, compression }: Omit<Target, 'target'>,
  emit: Emitter,
): Promise<Streams | undefined> {
  let isAnyLost = false;
  for (const configured of catalog.streams) {
    if (!(await StreamFiles.isLost(target, configured))) continue;
    await emit.holding?.({ stream_descriptor: configured.stream, lost: 'gone' });
    isAnyLost = true;
  }
  if (isAnyLost) return undefined;
  const streams = new Map<string, StreamFiles>();
  for (const configured of catalog.streams) {
    const { stream, destination_sync_mode, sync_id } = configured;
    if (destination_sync_mode !== 'append' && destination_sync_mode !== 'overwrite') {
      throw new ConnectorError(
        `${stream.name} cannot use ${destination_sync_mode}, because files have no keys. Choose another sync mode.`,
      );
    }
    const lines = lineFormat(format, stream.json_schema, sync_id);
    const files = await StreamFiles.open(target, runFolder, configured, lines, compression);
    if (files.isEmptiedByHand) await emit.holding?.({ stream_descriptor: stream, is_emptied: true });
    streams.set(streamKey(stream), files);
  }
  return streams;
}

async function writeStreams(
  streams: Streams,
  input: AsyncIterable<DestinationInput[]>,
  holdings: Holdings,
  emit: Emitter,
): Promise<void> {
  const states: State[] = [];
  let finishedAtMs = performance.now();
  for await (const batch of input) {
    for (const message of batch) {
      const work = take(message, streams, states);
      if (work) await work;
    }
    const pendingBytes = [...streams.values()].reduce((sum, files) => sum + files.pendingBytes, 0);
    if (pendingBytes >= finishAfterBytes || performance.now() - finishedAtMs >= finishAfterMs) {
      await confirm(states, streams, holdings, emit);
      finishedAtMs = performance.now();
    }
  }
  await confirm(states, streams, holdings, emit);
  for (const files of streams.values()) {
    await files.end();
    await emit.report(files.report);
  }
}

/** Most messages leave nothing to wait for. */
function take(message: DestinationInput, streams: Streams, states: State[]): Promise<void> | undefined {
  if (message.type === 'RECORD') {
    const { stream: name, namespace } = message.record;
    return getFiles(streams, name, namespace).add(message.record);
  }
  if (message.type === 'STATE') {
    states.push(message.state);
  } else if (message.trace.stream_status?.status === 'COMPLETE') {
    const { name, namespace } = message.trace.stream_status.stream_descriptor;
    return getFiles(streams, name, namespace).complete();
  }
  return undefined;
}

/** Takes from `states` what can be confirmed. */
async function confirm(states: State[], streams: Streams, holdings: Holdings, emit: Emitter): Promise<void> {
  for (const files of streams.values()) {
    if (!files.isOverwritten) await files.finishPart();
    await holdings.tell(files.configured, files.held);
  }
  for (let state = states[0]; state && isCovered(state, streams); state = states[0]) {
    await emit.state(state);
    states.shift();
  }
}

/** What was collected for an overwritten stream is thrown away unless it is completed. */
function isCovered({ type, stream }: State, streams: Streams): boolean {
  const descriptor = type === 'STREAM' ? stream?.stream_descriptor : undefined;
  const concerned = descriptor ? [streams.get(streamKey(descriptor))] : [...streams.values()];
  return concerned.every((files) => !files?.isOverwritten || files.isComplete);
}

function getFiles(streams: Streams, name: string, namespace: string | undefined): StreamFiles {
  const files = streams.get(streamKey({ name, namespace }));
  if (!files) throw new Error(`The stream ${name} is not in the catalog.`);
  return files;
}

interface Target {
  target: string;
  format: FormatName;
  compression: Compression;
}

async function openTarget(config: Configuration, { workspaceDir }: Surroundings): Promise<Target> {
  const { path, format = 'jsonl', compression = 'none' } = config;
  const { properties } = specification.connectionSpecification as { properties: { path: { pattern: string } } };
  if (typeof path !== 'string' || !new RegExp(properties.path.pattern).test(path)) {
    throw new ConnectorError(
      'The folder must look like folder/subfolder and contain only letters, digits, dots, _ and -.',
    ).about('path');
  }
  if (format !== 'jsonl' && format !== 'csv')
    throw new ConnectorError('The format must be jsonl or csv.').about('format');
  if (compression !== 'none' && compression !== 'gzip')
    throw new ConnectorError('Compression must be none or gzip.').about('compression');
  if (!workspaceDir) throw new ConnectorError('This platform has no folder for local files.');
  await mkdir(workspaceDir, { recursive: true, mode: 0o700 });
  return { target: await makeFolder(workspaceDir, ...path.split('/')), format, compression };
}

/** What the machine refuses, in words that help the operator. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const message = refusals[(cause as NodeJS.ErrnoException).code ?? ''];
    if (!message) throw cause;
    throw new ConnectorError(message, { cause, failureType: 'transient_error' });
  }
}

const refusals: Record<string, string> = {
  ENOSPC: "The platform's disk is full.",
  EDQUOT: "The platform's disk quota is used up.",
  EACCES: 'The platform is not allowed to write to its folder for local files.',
  EPERM: 'The platform is not allowed to write to its folder for local files.',
  EROFS: 'The folder for local files is on a read-only disk.',
  EIO: "The platform's disk reports errors.",
};
