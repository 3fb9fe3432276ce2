/* Where the CPU time of a request goes, by layer: from a profile of the service under load. */
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Benchmark, type BenchmarkOptions, onBothDatabases } from './benchmark.ts';
import type { Database } from './databases.ts';
import type { Figure } from './figures.ts';
import { startGenerator } from './load.ts';
import { layerNames, layersOf, type Profile, samplesBetween, sourcesOf } from './profiles.ts';
import { chosenKinds, kinds, requestsOf } from './requests.ts';
import { startService } from './service-process.ts';

export const layersOfRequests: Benchmark = {
  ...onBothDatabases('layers', measure),
  amounts: { seconds: 4, workspaces: 20_000 },
  isOnRequest: true,
};

async function measure(database: Database, options: BenchmarkOptions): Promise<Figure[]> {
  const profiles = join(options.profiles ?? options.folder, `layers-${database.name}`);
  const place = await database.withWorkspaces(options.workspaces);
  const service = await startService(place, { ...options, profiles });
  const generator = startGenerator(options);
  const loads = [];
  for (const kind of chosenKinds(options)) {
    const requests = await requestsOf(kind, options.workspaces, service);
    const from = nowUs();
    const load = await generator.load(service, requests);
    loads.push({ kind, load, from, to: nowUs() });
  }
  // The service writes its profile when it ends.
  await service.stop();
  const [file = ''] = readdirSync(profiles);
  const profile = JSON.parse(readFileSync(join(profiles, file), 'utf8')) as Profile;
  const program = realpathSync(resolve(options.product, '../../dist/inlay.cjs'));
  const layerOf = layersOf(profile, sourcesOf(program, options.root));
  return loads.map(({ kind, load, from, to }) => {
    const value = (load.cpuMs * 1_000) / load.count;
    const samples = samplesBetween(profile, from, to)
      .map(layerOf)
      .filter((layer) => layer !== undefined);
    const share = (name: string) => samples.filter((layer) => layer === name).length / Math.max(1, samples.length);
    const parts = Object.fromEntries(layerNames.map((name) => [name, share(name) * value]));
    return { work: `${kinds[kind]}, layers`, value, unit: 'µs', parts, note: `${samples.length} samples` };
  });
}

/** On the clock of profiles. */
const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n);
