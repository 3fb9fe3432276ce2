/* A sync of the sample's users, as benchmarks measure it: what the source is asked for and what the destination is told. */
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampleStreams } from '../platform/connectors/sample-data/made-up-records.ts';
import type { ConfiguredCatalog, DestinationSyncMode } from '../platform/src/protocol.ts';
import { connectorProgram } from '../platform/src/runner/programs.ts';
import type { ConfiguredConnector, ConnectorProgram } from '../platform/src/runner/runner.ts';
import type { BenchmarkOptions, Measured } from './benchmark.ts';
import { runTimed } from './started-process.ts';

const syncProgram = 'sync-process.js';
const sourceName = 'sample-data';
export const streamName = 'users';

export interface SampleSync {
  destination: { name: string; configuration: Record<string, unknown> };
  mode: DestinationSyncMode;
}

/** The whole sync, by the real runner, from the start of its process to the end. */
export async function runSampleSync(sync: SampleSync, options: BenchmarkOptions): Promise<Measured> {
  const { records, folder, programs, signal } = options;
  const { destination, mode } = sync;
  const request = {
    source: bundled('source', sourceName, { count: records }, options),
    destination: bundled('destination', destination.name, destination.configuration, options),
    catalog: catalogOf(mode),
    records,
  };
  writeFileSync(join(folder, 'request.json'), JSON.stringify(request));
  const names = { runner: syncProgram, source: sourceName, destination: destination.name };
  return runTimed(process.execPath, [join(programs, syncProgram), folder], { signal, names });
}

/** What the source writes for such a sync, as a file. */
export async function writeSourceOutput({ records, folder, connectors, signal }: BenchmarkOptions): Promise<string> {
  const config = join(folder, 'config.json');
  const catalog = join(folder, 'catalog.json');
  const output = join(folder, 'output.jsonl');
  writeFileSync(config, JSON.stringify({ count: records }));
  writeFileSync(catalog, JSON.stringify(catalogOf('append')));
  const args = [connectors, sourceName, 'read', '--config', config, '--catalog', catalog];
  const file = openSync(output, 'w');
  try {
    await runTimed(process.execPath, args, { signal, stdio: ['ignore', file, 'inherit'] });
  } finally {
    closeSync(file);
  }
  return output;
}

export function workspaceDir({ folder }: BenchmarkOptions): string {
  const path = join(folder, 'workspace');
  mkdirSync(path, { recursive: true });
  return path;
}

function catalogOf(mode: DestinationSyncMode): ConfiguredCatalog {
  const sample = sampleStreams.find(({ name }) => name === streamName);
  if (!sample) throw new Error(`The sample has no stream ${streamName}.`);
  return {
    streams: [
      {
        stream: {
          name: streamName,
          json_schema: sample.json_schema,
          supported_sync_modes: ['incremental'],
          source_defined_primary_key: [['id']],
        },
        sync_mode: 'incremental',
        destination_sync_mode: mode,
        cursor_field: ['updated_at'],
        primary_key: [['id']],
        generation_id: 0,
        minimum_generation_id: 0,
        sync_id: 1,
      },
    ],
  };
}

function bundled(
  kind: ConnectorProgram['kind'],
  name: string,
  configuration: Record<string, unknown>,
  options: BenchmarkOptions,
): ConfiguredConnector {
  const surroundings = {
    connectorsProgram: options.connectors,
    workspaceDir: workspaceDir(options),
    readableDirs: [],
    allowPrivateNetworks: true,
    serviceEndpoints: [],
  };
  return { ...connectorProgram({ type: 'bundled', name }, kind, surroundings), configuration, secrets: [] };
}
