/*
 * What a person waits for: the service until it is ready, a command until it has ended, the widget until a customer can
 * use it, and with `--only "first start"` a fresh clone until it serves.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../scripts/disposable.mjs';
import { type Benchmark, type BenchmarkOptions, untilEnd } from './benchmark.ts';
import { callerOf } from './customers.ts';
import { type Figure, figureOf, type Measured, measureInTurns } from './figures.ts';
import { childrenCpuSecondsSoFar, cpuSecondsSoFar } from './process-usage.ts';
import { startService } from './service-process.ts';

const sampleData = '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14';
const targets = { startMs: 700, commandRatio: 2.5, widgetMs: 2_500, firstStartMs: 30_000, silenceMs: 2_000 };
const firstStart = 'first start';
/** The first two need nothing but the program; the others open the database. */
const commands = ['--version', '--help', 'operator-token list', 'status', 'doctor'];
/** 150 ms round trip, 1.6 Mbit/s down and 0.75 Mbit/s up, as Chromium's "Slow 4G". */
const network = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const cpuThrottling = 4;

export const start: Benchmark = {
  name: 'start',

  async run(options) {
    if (options.only === firstStart) return await measureFirstStart(options);
    const { dataDir } = await options.databases.sqlite.makeEmpty('start-existing');
    // Makes the database that the others find.
    await startAndStop(dataDir, options);
    const starts = {
      empty: async () => startAndStop((await options.databases.sqlite.makeEmpty('start-empty')).dataDir, options),
      existing: () => startAndStop(dataDir, options),
    };
    const { empty, existing } = await measureInTurns<keyof typeof starts, Measured & { wallMs: number }>(
      starts,
      options,
    );
    const startFigure = (what: string, measured: typeof empty): Figure =>
      figureOf(`start to ready, CPU time, ${what}`, ['each', 'ms'], measured, {
        target: { of: 'value', atMost: targets.startMs },
        note: `${Math.round(measured.wallMs)} ms until the first answer`,
      });
    return [
      startFigure('empty data directory', empty),
      startFigure('existing data directory', existing),
      ...(await measureCommands(dataDir, options)),
      ...(await untilEnd(options, measureWidget)),
    ];
  },
};

const repositoryOf = ({ programs }: BenchmarkOptions) => resolve(programs, '../../../..');

async function startAndStop(dataDir: string, options: BenchmarkOptions) {
  const service = await startService({ dataDir }, options);
  // Also of the processes that the start needed.
  const cpuMs = (cpuSecondsSoFar(service.pid) + childrenCpuSecondsSoFar(service.pid)) * 1000;
  await service.stop();
  return { tookMs: cpuMs, wallMs: service.readyAfterMs };
}

async function measureCommands(dataDir: string, options: BenchmarkOptions): Promise<Figure[]> {
  const { product, seconds } = options;
  const port = String(await freePort());
  const run = (args: readonly string[]) => async () => {
    const startedAt = performance.now();
    const cpuBefore = childrenCpuSecondsSoFar(process.pid);
    let count = 0;
    do {
      const env = { PATH: process.env.PATH, INLAY_DATA_DIR: dataDir, PORT: port };
      const child = spawn(process.execPath, args, { env, stdio: 'ignore', signal: options.signal });
      await once(child, 'exit');
      count++;
    } while (performance.now() - startedAt < seconds * 1000);
    const cpuMs = (childrenCpuSecondsSoFar(process.pid) - cpuBefore) * 1000;
    return { tookMs: performance.now() - startedAt, count, cpuMs };
  };
  const bare = 'node -e 0';
  const works = Object.fromEntries(commands.map((command) => [command, run([product, ...command.split(' ')])]));
  const measured = await measureInTurns<string, Measured>({ [bare]: run(['-e', '0']), ...works }, options);
  return commands.map((command) =>
    figureOf(`inlay ${command}`, ['each', 'ms'], measured[command], {
      than: [bare, measured[bare]],
      target: { of: 'ratio', atMost: targets.commandRatio },
    }),
  );
}

/** The page of a widget token in a browser that has seen nothing of it, until a button can be pressed. */
async function measureWidget(options: BenchmarkOptions): Promise<Figure[]> {
  // Not bundled: the library reads files that lie beside it, and the script is a program, too.
  const [driver, finder] = ['playwright-core', join(repositoryOf(options), 'scripts/chromium.mjs')];
  const { chromium } = (await import(driver)) as typeof import('playwright-core');
  const { chromiumArguments, findChromium } = (await import(finder)) as typeof import('../scripts/chromium.mjs');
  const executablePath = await findChromium().catch((error: Error) =>
    options.log(`${error.message} Skipping the widget.`),
  );
  if (executablePath === undefined) return [];
  const { dataDir } = await options.databases.sqlite.makeEmpty('start-widget');
  const service = await startService({ dataDir }, options);
  await callerOf(service, options).sourceTemplate(sampleData, 'Sample');
  const { token } = await service.request<{ token: string }>('POST', '/api/v1/embedded/widget-token', {
    ...{ workspace_name: 'widget', allowed_origin: 'https://app.example.com' },
  });
  const { widgetUrl } = JSON.parse(Buffer.from(token, 'base64').toString()) as { widgetUrl: string };
  const address = new URL(widgetUrl);
  // The product builds links with its public URL, which the benchmark leaves alone.
  address.host = new URL(service.url).host;
  const browser = await chromium.launch({ executablePath, args: chromiumArguments });
  options.onEnd(() => browser.close());
  const open = async () => {
    const context = await browser.newContext({ bypassCSP: true });
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await cdp.send('Network.enable');
    await cdp.send('Network.emulateNetworkConditions', network);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: cpuThrottling });
    let requests = 0;
    page.on('request', () => void requests++);
    await page.goto(address.href, { waitUntil: 'commit' });
    const isUsable = `document.querySelector('#inlay main:not([data-screen=loading]) button:not(:disabled)') && performance.now()`;
    const tookMs = Number(await (await page.waitForFunction(isUsable)).jsonValue());
    const until = requests;
    await context.close();
    return { tookMs, requests: until };
  };
  await open();
  const { widget } = await measureInTurns<'widget', Measured & { requests: number }>({ widget: open }, options);
  return [
    figureOf('widget to interactive', ['each', 'ms'], widget, {
      target: { of: 'value', atMost: targets.widgetMs },
      note: `${widget.requests} requests, 150 ms round trip, 1.6 Mbit/s, CPU ${cpuThrottling} × slower`,
    }),
  ];
}

/** `npm start` in a clone with the packages that are installed here, until it serves. */
async function measureFirstStart(options: BenchmarkOptions): Promise<Figure[]> {
  const repository = repositoryOf(options);
  // Packages are hard links, which do not lead to other file systems.
  const clone = mkdtempSync(join(repository, 'server/builds/bench-clone-'));
  const run = async (program: string, ...args: string[]) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], signal: options.signal });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}.`);
  };
  options.onEnd(() => run('rm', '-rf', clone));
  await run('git', 'clone', '--quiet', '--depth', '1', `file://${repository}`, clone);
  await run('cp', '-al', join(repository, 'node_modules'), join(clone, 'node_modules'));
  const startedAt = performance.now();
  const child = spawn('npm', ['start'], {
    cwd: clone,
    env: { PATH: process.env.PATH, HOME: clone, PORT: String(await freePort()), INLAY_DATA_DIR: join(clone, 'data') },
    stdio: ['ignore', 'pipe', 'pipe'],
    // The service is a child of npm, and ends with its group.
    detached: true,
  });
  options.onEnd(async () => void process.kill(-(child.pid as number)));
  let lastLineAt = startedAt;
  let silenceMs = 0;
  const isServing = new Promise<void>((resolve, reject) => {
    const hear = (text: Buffer) => {
      silenceMs = Math.max(silenceMs, performance.now() - lastLineAt);
      lastLineAt = performance.now();
      if (String(text).includes('Inlay is running')) resolve();
    };
    for (const output of [child.stdout, child.stderr]) output.on('data', hear);
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}.`)));
  });
  await isServing;
  const tookMs = performance.now() - startedAt;
  return [
    figureOf(
      'first start of a fresh clone',
      ['each', 'ms'],
      { tookMs },
      {
        target: { of: 'value', atMost: targets.firstStartMs },
      },
    ),
    figureOf(
      'longest silence of a first start',
      ['each', 'ms'],
      { tookMs: silenceMs },
      {
        target: { of: 'value', atMost: targets.silenceMs },
      },
    ),
  ];
}
