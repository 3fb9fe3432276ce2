/*
 * The memory of the service with many workspaces while all kinds of requests keep it busy, and whether it grows. To see
 * a leak, watch for minutes.
 */
import { onBothDatabases } from './benchmark.ts';
import { figureOf, numberText } from './figures.ts';
import { startGenerator } from './load.ts';
import { watchUsage } from './process-usage.ts';
import { type Kind, requestsOf } from './requests.ts';
import { startService } from './service-process.ts';

const mixed: Kind[] = ['info', 'scopedToken', 'widgetToken', 'get', 'list', 'listFar'];
const targets = { peakMegabytes: 200, growth: 1.1 };

export const memory = onBothDatabases('memory', async (database, options) => {
  const { workspaces } = options;
  const watchMs = options.minutes * 60_000;
  const service = await startService(await database.withWorkspaces(workspaces), options);
  const generator = startGenerator(options);
  const requests: string[][] = [];
  for (const kind of mixed) requests.push(await requestsOf(kind, workspaces, service));
  const most = Math.max(...requests.map(({ length }) => length));
  const inTurn = Array.from({ length: most }, (_, i) => requests.map((some) => some[i % some.length] as string)).flat();
  // Until then memory grows because the service has just started.
  await generator.load(service, inTurn, watchMs / 5);
  const endWatch = watchUsage(service.pid, { service: '' });
  const { count, tookMs } = await generator.load(service, inTurn, watchMs);
  const { service: usage } = endWatch();
  if (!usage) return [];
  const { peakMegabytes, growth } = usage;
  const work = `memory with ${numberText(workspaces)} workspaces under load`;
  const whole = { count, tookMs, peakMegabytes };
  const half = (megabytes: number) => ({ tookMs, peakMegabytes: megabytes });
  return [
    figureOf(work, ['peak', 'MB'], whole, { target: { of: 'value', atMost: targets.peakMegabytes } }),
    figureOf(`${work}, second half to first`, ['peak', 'MB'], half(peakMegabytes * Math.min(1, growth)), {
      than: ['peak of the first half', half(peakMegabytes / Math.max(1, growth))],
      target: { of: 'ratio', atMost: targets.growth },
    }),
  ];
});
