/*
 * How long a customer waits while another customer asks for far too much: four syncs that never end, a queue full of
 * checks that never answer, and a thousand refused checks. Also measures whether the service still answers meanwhile.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Benchmark, BenchmarkOptions, Figure } from './benchmark.ts';
import { connect, connectionsOf, create, statusOf, templates, workspaceOf } from './customers.ts';
import { operatorToken } from './dataset.ts';
import { liveFigure, slowestWhenIdle, timed, until, watchLive } from './live-answers.ts';
import { type ServiceProcess, startService } from './service-process.ts';

const sampleData = '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14';
const httpApi = '4dae2d0e-d1c3-49e9-91f2-23f8d5661568';
const localFiles = 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815';
const targets = { syncMs: 1_000, checkMs: 2_000 };

export const benchmark: Benchmark = {
  name: 'fair-share',

  async run(options) {
    const dataDir = join(options.folder, 'fair-share');
    mkdirSync(dataDir);
    const api = await startSilentApi();
    const service = await startService({ dataDir }, options);
    try {
      return await measure(service, api, options);
    } finally {
      await service.stop();
      api.server.closeAllConnections();
      api.server.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
};

interface SilentApi {
  server: Server;
  url: string;
  /** From now on the server answers nothing. */
  fallSilent(): void;
}

async function startSilentApi(): Promise<SilentApi> {
  let isSilent = false;
  const server = createServer((_request, response) => {
    if (!isSilent) response.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":1}]');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    server,
    url,
    fallSilent: () => {
      isSilent = true;
    },
  };
}

async function measure(
  service: ServiceProcess,
  api: SilentApi,
  { signal, watchMs }: BenchmarkOptions,
): Promise<Figure[]> {
  const post = (path: string, body: object) => create(service, path, body);
  const slow = await post(`${templates}/sources`, { actor_definition_id: httpApi, name: 'API' });
  const quick = await post(`${templates}/sources`, { actor_definition_id: sampleData, name: 'Sample' });
  await post(`${templates}/connections`, {
    destination_name: 'Files',
    destination_definition_id: localFiles,
    destination_config: { path: 'exports' },
    skip_check: true,
    cron_expression: null,
    sync_on_create: false,
  });
  const config = {
    base_url: api.url,
    authentication: { type: 'none' },
    streams: [{ name: 'things', path: '/things' }],
  };
  const greedy = await workspaceOf(service, 'greedy');
  const modest = await workspaceOf(service, 'modest');
  for (let n = 0; n < 4; n++) await connect(service, greedy, { source_template_id: slow, source_config: config });
  await connect(service, modest, { source_template_id: quick, source_config: { count: 10 } });
  const endless = await connectionsOf(service, greedy, 4, signal);
  const [own = ''] = await connectionsOf(service, modest, 1, signal);

  const idleMs = await slowestWhenIdle(service, { watchMs, signal });
  api.fallSilent();
  const live = watchLive(service);
  for (const id of endless) await post(`/api/v1/integrations/connections/${id}/sync?workspace_id=${greedy}`, {});
  await until(async () => (await runningJobs(service, greedy, endless)) >= 2, signal);
  const syncMs = await timed(async () => {
    await post(`/api/v1/integrations/connections/${own}/sync?workspace_id=${modest}`, {});
    await until(async () => (await statusOf(service, modest, own)) !== 'pending', signal);
  });

  const check = { source_template_id: slow, source_config: config };
  const answers: number[] = [];
  // The number of connections of one client is limited.
  while (answers.length < 1_052) {
    answers.push(...(await Promise.all(Array.from({ length: 50 }, () => statusOfCheck(service, greedy, check)))));
  }
  const checkMs = await timed(async () => {
    const body = { source_template_id: quick, source_config: { count: 1 } };
    const id = await post(`/api/v1/integrations/sources/check?workspace_id=${modest}`, body);
    const path = `/api/v1/integrations/sources/check/${id}/status?workspace_id=${modest}`;
    await until(async () => ((await service.request('GET', path)) as { status: string }).status !== 'running', signal);
  });
  const refused = answers.filter((status) => status === 429).length;
  return [
    figure('a sync starts while four of another workspace never end', syncMs, targets.syncMs),
    {
      ...figure('a check is over while another workspace has its queue full', checkMs, targets.checkMs),
      note: `${refused} checks of the other workspace were refused with 429`,
    },
    liveFigure('fair share: /health/live meanwhile, the slowest answer', await live(), idleMs),
  ];
}

const figure = (work: string, value: number, atMost: number): Figure => ({
  work: `fair share: ${work}`,
  value,
  unit: 'ms',
  target: { of: 'value', atMost },
});

async function runningJobs(service: ServiceProcess, workspaceId: string, ids: readonly string[]): Promise<number> {
  const statuses = await Promise.all(ids.map((id) => statusOf(service, workspaceId, id)));
  return statuses.filter((status) => status === 'running').length;
}

async function statusOfCheck({ url }: ServiceProcess, workspaceId: string, body: object): Promise<number> {
  const answer = await fetch(`${url}/api/v1/integrations/sources/check?workspace_id=${workspaceId}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.text();
  return answer.status;
}
