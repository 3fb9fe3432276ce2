/* A sync of the sample's users, as benchmarks measure it: the configurations and catalogs of source and destination. */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampleStreams } from '../platform/connectors/sample-data/made-up-records.ts';
import type { ConfiguredCatalog, DestinationSyncMode } from '../platform/src/protocol.ts';
import type { BenchmarkOptions, Measured } from './benchmark.ts';
import { runTimed } from './started-process.ts';
import { type NamedConnector, runSync } from './timed-sync.ts';

const sourceName = 'sample-data';
export const streamName = 'users';

export interface SampleSync {
  destination: NamedConnector;
  mode: DestinationSyncMode;
}

export function runSampleSync({ destination, mode }: SampleSync, options: BenchmarkOptions): Promise<Measured> {
  const source = { name: sourceName, configuration: { count: options.records } };
  return runSync({ source, destination, catalog: catalogOf(mode) }, options);
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
