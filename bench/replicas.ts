/*
 * Whether several processes on one PostgreSQL answer more requests than one process: as many processes as cores, each
 * with its own clients. The database and the clients run on this machine too, so the rate can double only if there are
 * free cores. The CPU time of a request shows whether the processes slow each other down.
 */
import { availableParallelism } from 'node:os';
import { onPostgres } from './benchmark.ts';
import { figureOf, measureInTurns } from './figures.ts';
import { type Load, startGenerator, sumOf } from './load.ts';
import { type Kind, kinds, requestsOf } from './requests.ts';
import { startService } from './service-process.ts';

const measured: Kind[] = ['scopedToken', 'list'];

export const replicas = onPostgres('replicas', async (database, options) => {
  const place = await database.withWorkspaces(options.workspaces);
  const start = async () => ({ service: await startService(place, options), generator: startGenerator(options) });
  const first = await start();
  const all = [first];
  while (all.length < Math.max(2, availableParallelism())) all.push(await start());
  const works: Record<string, () => Promise<Load>> = {};
  for (const kind of measured) {
    const requests = await requestsOf(kind, options.workspaces, first.service);
    const load = async (some: typeof all) =>
      sumOf(await Promise.all(some.map(({ generator, service }) => generator.load(service, requests))));
    works[`${kind}, one`] = () => load([first]);
    works[`${kind}, all`] = () => load(all);
  }
  const loads = await measureInTurns(works, options);
  return measured.map((kind) => {
    const work = `PostgreSQL: ${kinds[kind]}, ${all.length} processes`;
    return figureOf(work, ['rate', 'requests/s'], loads[`${kind}, all`], {
      than: ['one process', loads[`${kind}, one`]],
    });
  });
});
