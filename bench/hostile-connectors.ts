/*
 * Whether the service stays responsive while a connector has a catalog just under the limits, and while configurations
 * are checked by a pattern that takes years in the engine of JavaScript.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Benchmark, BenchmarkOptions } from './benchmark.ts';
import { callerOf, liveFigure } from './customers.ts';
import { numberText } from './figures.ts';
import { startService } from './service-process.ts';

const fieldsPerStream = 5;
const maxStreams = 9_990;
const hostilePattern = '^(a+)+$';
const hostileChecks = 200;

/** A source and a destination in one: a huge catalog, one record of each stream, and a destination that keeps nothing. */
const program = (streams: number) => `
import { readFileSync } from 'node:fs';
const [command, ...options] = process.argv.slice(2);
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const code = { type: 'string', title: 'Code', pattern: ${JSON.stringify(hostilePattern)} };
if (command === 'spec') {
  const connectionSpecification = { type: 'object', properties: { code } };
  say({ type: 'SPEC', spec: { connectionSpecification, supported_destination_sync_modes: ['overwrite', 'append'] } });
} else if (command === 'check') {
  say({ type: 'CONNECTION_STATUS', connectionStatus: { status: 'SUCCEEDED' } });
} else if (command === 'discover') {
  const fields = Array.from({ length: ${fieldsPerStream} }, (_, n) => ['field_' + n, { type: ['null', 'string'] }]);
  const json_schema = { type: 'object', properties: Object.fromEntries(fields) };
  const stream = (_, n) => ({ name: 'stream_' + n, json_schema, supported_sync_modes: ['full_refresh'] });
  say({ type: 'CATALOG', catalog: { streams: Array.from({ length: ${streams} }, stream) } });
} else if (command === 'read') {
  const { streams } = JSON.parse(readFileSync(options[options.indexOf('--catalog') + 1], 'utf8'));
  for (const { stream } of streams) {
    say({ type: 'RECORD', record: { stream: stream.name, emitted_at: 1, data: { field_0: 'x' } } });
  }
} else {
  for await (const _ of process.stdin);
}
`;

export const hostileConnectors: Benchmark = {
  name: 'hostile-connectors',

  async run(options) {
    const place = await options.databases.sqlite.makeEmpty('hostile-connectors');
    const file = join(place.dataDir, 'connector.mjs');
    const streams = Math.min(maxStreams, options.records);
    writeFileSync(file, program(streams));
    const source = await addConnector('source', file, place.dataDir, options);
    const destination = await addConnector('destination', file, place.dataDir, options);
    const call = callerOf(await startService(place, options), options);
    const template = await call.sourceTemplate(source, 'Hostile');
    await call.connectionTemplate(destination, { destination_config: {} });
    const huge = await call.workspace('huge');

    const idle = await call.slowestWhenIdle();
    const duringSync = call.watchLive();
    await call.connect(huge, template, {});
    const [id = ''] = await call.connections(huge, 1);
    await call.until(async () => /succeeded|failed/.test((await call.lastStatus(huge, id)) ?? ''));
    const synced = await duringSync();

    const duringChecks = call.watchLive();
    const check = { source_template_id: template, source_config: { code: `${'a'.repeat(60)}!` } };
    const refused = (await call.check(huge, check, hostileChecks, 10)).filter((status) => status === 422).length;
    const checked = await duringChecks();
    const work = (during: string) => `/health/live, the slowest answer, while ${during}`;
    const set = `a source with ${numberText(streams)} streams is set up and synced`;
    const note = `${refused} of ${hostileChecks} were refused with 422`;
    return [
      liveFigure(work(set), synced, idle),
      liveFigure(work('configurations are checked by a hostile pattern'), checked, idle, note),
    ];
  },
};

/** Gives the id of the definition. */
async function addConnector(kind: string, file: string, cwd: string, { product }: BenchmarkOptions): Promise<string> {
  const args = [product, 'connector', 'add', `--${kind}`, '--name', `Hostile ${kind}`, '--', process.execPath, file];
  const env = { PATH: process.env.PATH, INLAY_DATA_DIR: cwd };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd });
  return /[0-9a-f-]{36}/.exec(stdout)?.[0] ?? '';
}
