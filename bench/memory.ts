/*
 * The memory of the service with many workspaces while all kinds of requests keep it busy, and whether it grows. To see
 * a leak, watch for minutes.
 */
import type { Benchmark, BenchmarkOptions, Figure } from './benchmark.ts';
import type { SeededDatabase } from './databases.ts';
import { startGenerator } from './load.ts';
import { watchUsage } from './process-usage.ts';
import { type Kind, requestsOf } from './requests.ts';

const mixed: Kind[] = ['info', 'scopedToken', 'widgetToken', 'get', 'list', 'listFar'];
const targets = { peakMegabytes: 200, growth: 1.1 };

export const benchmark: Benchmark = {
  name: 'memory',

  async run(options) {
    const { sqlite, postgres } = options.databases;
    const figures = await measure(sqlite, options);
    const other = await postgres();
    return other ? [...figures, ...(await measure(other, options))] : figures;
  },
};

async function measure(database: SeededDatabase, options: BenchmarkOptions): Promise<Figure[]> {
  const { workspaces, watchMs } = options;
  const service = await database.startOn(workspaces);
  const generator = startGenerator(options);
  try {
    const requests: string[][] = [];
    for (const kind of mixed) requests.push(await requestsOf(kind, workspaces, service));
    const most = Math.max(...requests.map(({ length }) => length));
    const inTurn = Array.from({ length: most }, (_, i) =>
      requests.map((some) => some[i % some.length] as string),
    ).flat();
    // Until then memory grows because the service has just started.
    await generator.load(service, inTurn, watchMs / 5);
    const endWatch = watchUsage(service.pid, () => 'service');
    const { requests: answered, tookMs } = await generator.load(service, inTurn, watchMs);
    const { service: usage } = endWatch();
    if (!usage) return [];
    const work = `${database.name}: memory with ${workspaces.toLocaleString('en')} workspaces under load`;
    return [
      {
        work,
        value: usage.peakMegabytes,
        unit: 'MB',
        target: { of: 'value', atMost: targets.peakMegabytes },
        records: answered,
        tookMs,
      },
      {
        work: `${work}, second half to first`,
        value: usage.peakMegabytes * Math.min(1, usage.growth),
        unit: 'MB',
        reference: { name: 'peak of the first half', value: usage.peakMegabytes / Math.max(1, usage.growth) },
        ratio: usage.growth,
        target: { of: 'ratio', atMost: targets.growth },
      },
    ];
  } finally {
    await generator.stop();
    await service.stop();
  }
}
