/*
 * Whether the service goes on answering while a connector has a catalog just under the limits, and while configurations
 * are checked by a pattern that takes years in the engine of JavaScript.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Benchmark, BenchmarkOptions, Figure } from './benchmark.ts';
import { connect, connectionsOf, create, statusOf, templates, workspaceOf } from './customers.ts';
import { operatorToken } from './dataset.ts';
import { liveFigure, slowestWhenIdle, until, watchLive } from './live-answers.ts';
import { type ServiceProcess, startService } from './service-process.ts';

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

export const benchmark: Benchmark = {
  name: 'hostile-connectors',

  async run(options) {
    const dataDir = join(options.folder, 'hostile-connectors');
    mkdirSync(dataDir);
    const file = join(dataDir, 'connector.mjs');
    const streams = Math.min(maxStreams, options.records);
    writeFileSync(file, program(streams));
    const [source, destination] = [
      await add(options, dataDir, 'source', file),
      await add(options, dataDir, 'destination', file),
    ];
    const service = await startService({ dataDir }, options);
    try {
      return await measure(service, { source, destination, streams }, options);
    } finally {
      await service.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
};

/** Gives the id of the definition. */
async function add({ product }: BenchmarkOptions, dataDir: string, kind: string, file: string): Promise<string> {
  const args = [product, 'connector', 'add', `--${kind}`, '--name', `Hostile ${kind}`, '--', process.execPath, file];
  const env = { PATH: process.env.PATH, INLAY_DATA_DIR: dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: dataDir });
  return /[0-9a-f-]{36}/.exec(stdout)?.[0] ?? '';
}

async function measure(
  service: ServiceProcess,
  { source, destination, streams }: { source: string; destination: string; streams: number },
  { signal, watchMs }: BenchmarkOptions,
): Promise<Figure[]> {
  const template = await create(service, `${templates}/sources`, { actor_definition_id: source, name: 'Hostile' });
  await create(service, `${templates}/connections`, {
    destination_name: 'Nowhere',
    destination_definition_id: destination,
    destination_config: {},
    cron_expression: null,
  });
  const huge = await workspaceOf(service, 'huge');

  const idleMs = await slowestWhenIdle(service, { signal, watchMs });
  const duringSync = watchLive(service);
  await connect(service, huge, { source_template_id: template, name: 'Huge', source_config: {} });
  const [id = ''] = await connectionsOf(service, huge, 1, signal);
  await until(async () => /succeeded|failed/.test((await statusOf(service, huge, id)) ?? ''), signal);
  const syncMs = await duringSync();

  const duringChecks = watchLive(service);
  const statuses: number[] = [];
  for (let sent = 0; sent < hostileChecks; sent += 10) {
    statuses.push(...(await Promise.all(Array.from({ length: 10 }, () => refusedCheck(service, huge, template)))));
  }
  const checksMs = await duringChecks();
  const refused = statuses.filter((status) => status === 422).length;
  return [
    figure(`a source with ${streams.toLocaleString('en')} streams is set up and synced`, syncMs, idleMs),
    {
      ...figure('configurations are checked by a hostile pattern', checksMs, idleMs),
      note: `${refused} of ${hostileChecks} were refused with 422`,
    },
  ];
}

async function refusedCheck({ url }: ServiceProcess, workspaceId: string, template: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/integrations/sources/check?workspace_id=${workspaceId}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ source_template_id: template, source_config: { code: `${'a'.repeat(60)}!` } }),
  });
  await answer.text();
  return answer.status;
}

const figure = (during: string, value: number, idleMs: number): Figure =>
  liveFigure(`/health/live, the slowest answer, while ${during}`, value, idleMs);
