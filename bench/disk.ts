/*
 * What customers, syncs and rows take on disk: the growth of both SQLite files and of the logs, with the service stopped, so
 * that nothing is left in a write-ahead log. Rows are in the files of the destination alone.
 */
import { readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { Benchmark } from './benchmark.ts';
import { callerOf } from './customers.ts';
import { figureOf, numberText } from './figures.ts';
import { startService } from './service-process.ts';

const sampleData = '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14';
const localFiles = 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815';
const rows = 100;
const syncsEach = 5;

export const disk: Benchmark = {
  name: 'disk',

  async run(options) {
    const count = Math.ceil(options.connections / syncsEach);
    const place = await options.databases.sqlite.makeEmpty('disk');
    const sizes = () => sizesBelow(place.dataDir);
    const start = async () => {
      const service = await startService(place, options);
      return { service, call: callerOf(service, options) };
    };

    const first = await start();
    const template = await first.call.sourceTemplate(sampleData, 'Sample');
    const files = { destination_config: { path: 'exports' }, skip_check: true, sync_on_create: false };
    await first.call.connectionTemplate(localFiles, files);
    await first.service.stop();
    const empty = sizes();

    const second = await start();
    const customers: { workspace: string; connection: string }[] = [];
    for (let index = 0; index < count; index++) {
      const workspace = await second.call.workspace(`customer-${index}`);
      await second.call.connect(workspace, template, { count: rows });
      const [connection = ''] = await second.call.connections(workspace, 1);
      customers.push({ workspace, connection });
    }
    await second.service.stop();
    const connected = sizes();

    const third = await start();
    for (let sync = 0; sync < syncsEach; sync++) {
      for (const { workspace, connection } of customers) {
        await third.service.request('POST', third.call.at(workspace, `connections/${connection}/sync`), {});
      }
      for (const { workspace, connection } of customers) {
        await third.call.until(async () => (await third.call.lastStatus(workspace, connection)) === 'succeeded');
      }
    }
    await third.service.stop();
    const synced = sizes();

    const figure = (work: string, bytes: number, of: number, note: string) =>
      figureOf(`disk: ${work}`, ['disk', 'kB'], { tookMs: 0, bytes: bytes / of }, { note });
    const note = `${numberText(count)} customers with ${syncsEach} syncs each`;
    return [
      figure('a customer with a source and a connection', connected.databases - empty.databases, count, note),
      figure('a sync: its job and events', synced.databases - connected.databases, count * syncsEach, note),
      figure('a sync: its log', synced.logs - connected.logs, count * syncsEach, note),
      figure('a sync: the files of its 100 rows', synced.rows, count * syncsEach, 'local-files, uncompressed'),
    ];
  },
};

/** Bytes of both databases, of rows in `local-files`, and of the rest: logs. */
function sizesBelow(dataDir: string) {
  const sizes = { databases: 0, logs: 0, rows: 0 };
  for (const path of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
    const entry = statSync(join(dataDir, path));
    if (!entry.isFile()) continue;
    if (path.startsWith(`files${sep}`)) sizes.rows += entry.size;
    else sizes[path.endsWith('.db') ? 'databases' : 'logs'] += entry.size;
  }
  return sizes;
}
