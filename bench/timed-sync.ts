/* A sync between two bundled connectors, as benchmarks measure it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfiguredCatalog } from '../platform/src/protocol.ts';
import { connectorProgram } from '../platform/src/runner/programs.ts';
import type { ConfiguredConnector, ConnectorProgram } from '../platform/src/runner/runner.ts';
import type { BenchmarkOptions, Measured } from './benchmark.ts';
import { runTimed } from './started-process.ts';

const syncProgram = 'sync-process.js';

export interface NamedConnector {
  name: string;
  configuration: Record<string, unknown>;
}

interface TimedSync {
  source: NamedConnector;
  destination: NamedConnector;
  catalog: ConfiguredCatalog;
}

/** The whole sync, by the real runner, from the start of its process to the end. */
export async function runSync(sync: TimedSync, options: BenchmarkOptions): Promise<Measured> {
  const { records, folder, programs, signal } = options;
  const { source, destination, catalog } = sync;
  const request = {
    source: bundled('source', source, options),
    destination: bundled('destination', destination, options),
    catalog,
    records,
  };
  writeFileSync(join(folder, 'request.json'), JSON.stringify(request));
  const names = { runner: syncProgram, source: source.name, destination: destination.name };
  return runTimed(process.execPath, [join(programs, syncProgram), folder], { signal, names });
}

export function workspaceDir({ folder }: BenchmarkOptions): string {
  const path = join(folder, 'workspace');
  mkdirSync(path, { recursive: true });
  return path;
}

function bundled(
  kind: ConnectorProgram['kind'],
  { name, configuration }: NamedConnector,
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
