/*
 * How long a customer waits while another customer asks for far too much: four syncs that never end, a queue full of
 * checks that never answer, and a thousand refused checks. Also measures whether the service still answers meanwhile.
 */
import { createServer } from 'node:http';
import type { Benchmark } from './benchmark.ts';
import { portOf } from './child-program.ts';
import { callerOf, liveFigure } from './customers.ts';
import { figureOf, type Measured, timed } from './figures.ts';
import { startService } from './service-process.ts';

const sampleData = '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14';
const httpApi = '4dae2d0e-d1c3-49e9-91f2-23f8d5661568';
const localFiles = 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815';
const targets = { syncMs: 1_000, checkMs: 2_000 };

export const fairShare: Benchmark = {
  name: 'fair-share',

  async run(options) {
    let isSilent = false;
    const api = createServer((_request, response) => {
      if (!isSilent) response.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":1}]');
    });
    options.onEnd(async () => {
      api.closeAllConnections();
      api.close();
    });
    const config = {
      base_url: `http://127.0.0.1:${(await portOf(api)).port}`,
      authentication: { type: 'none' },
      streams: [{ name: 'things', path: '/things' }],
    };
    const service = await startService(await options.databases.sqlite.makeEmpty('fair-share'), options);
    const call = callerOf(service, options);
    const slow = await call.sourceTemplate(httpApi, 'API');
    const quick = await call.sourceTemplate(sampleData, 'Sample');
    const files = { destination_config: { path: 'exports' }, skip_check: true, sync_on_create: false };
    await call.connectionTemplate(localFiles, files);
    const [greedy, modest] = [await call.workspace('greedy'), await call.workspace('modest')];
    for (let n = 0; n < 4; n++) await call.connect(greedy, slow, config);
    await call.connect(modest, quick, { count: 10 });
    const endless = await call.connections(greedy, 4);
    const [own = ''] = await call.connections(modest, 1);
    const sync = (workspace: string, id: string) =>
      service.request('POST', call.at(workspace, `connections/${id}/sync`), {});

    const idle = await call.slowestWhenIdle();
    isSilent = true;
    const live = call.watchLive();
    for (const id of endless) await sync(greedy, id);
    await call.until(async () => {
      const statuses = await Promise.all(endless.map((id) => call.lastStatus(greedy, id)));
      return statuses.filter((status) => status === 'running').length >= 2;
    });
    const started = await timed(async () => {
      await sync(modest, own);
      await call.until(async () => (await call.lastStatus(modest, own)) !== 'pending');
    });
    // The number of connections of one client is limited.
    const answers = await call.check(greedy, { source_template_id: slow, source_config: config }, 1_052, 50);
    const checked = await timed(async () => {
      const body = { source_template_id: quick, source_config: { count: 1 } };
      const path = call.at(modest, `sources/check/${await call.create(call.at(modest, 'sources/check'), body)}/status`);
      await call.until(async () => (await service.request<{ status: string }>('GET', path)).status !== 'running');
    });
    const refused = answers.filter((status) => status === 429).length;
    const figure = (work: string, measured: Measured, atMost: number, note = '') =>
      figureOf(`fair share: ${work}`, ['each', 'ms'], measured, { target: { of: 'value', atMost }, note });
    return [
      figure('a sync starts while four of another workspace never end', started, targets.syncMs),
      figure(
        'a check is over while another workspace has its queue full',
        checked,
        targets.checkMs,
        `${refused} checks of the other workspace were refused with 429`,
      ),
      liveFigure('fair share: /health/live meanwhile, the slowest answer', await live(), idle),
    ];
  },
};
