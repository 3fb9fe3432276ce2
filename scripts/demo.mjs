// npm run demo: builds, starts the service and the sample product (examples/host-app) together, with templates and
// sample data, and prints the address to open, and a link to the console. Everything it keeps is in data/demo; delete that to start afresh.
//
//   --port, --page-port, --provider-port
//                         instead of the first free ones from 8080, 8090 and 8095; PORT in the environment counts as --port
//   --data-dir            instead of data/demo
//   --no-build            uses the present build as it is

import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { ensureCustomers } from '../examples/host-app/customers.mjs';
import { startHostApp } from '../examples/host-app/server.mjs';
import { ensureTemplates } from '../examples/host-app/templates.mjs';
import { startTestProvider } from '../examples/test-provider/provider.mjs';
import { ensureBuilt } from './ensure-built.mjs';
import { isMain } from './is-main.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const readyTimeoutMs = 60_000;

/** A fault that the person who started the demo can fix; its message says how. */
class DemoError extends Error {}

async function build() {
  try {
    await ensureBuilt();
  } catch (error) {
    throw new DemoError(`The build failed. ${error?.message ?? error}`);
  }
}

/**
 * The port asked for, or the first free one.
 * @param {string | undefined} asked @param {number} first @param {string} option
 */
async function choosePort(asked, first, option) {
  if (asked !== undefined) {
    const port = Number(asked);
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new DemoError(`"${asked}" is not a port. Set a port from 1 to 65535 with ${option}.`);
    if (await isFree(port)) return port;
    throw new DemoError(
      `Port ${asked} is in use. Stop the program that uses it, or choose a different port with ${option}.`,
    );
  }
  for (let port = first; port < first + 10; port += 1) if (await isFree(port)) return port;
  throw new DemoError(`Ports ${first} to ${first + 9} are all in use. Choose a different port with ${option}.`);
}

/** @param {number} port @returns {Promise<boolean>} */
async function isFree(port) {
  const probe = createServer();
  probe.listen(port, '127.0.0.1');
  const isListening = await once(probe, 'listening').then(
    () => true,
    (error) => {
      if (error.code === 'EADDRINUSE') return false;
      throw new DemoError(`Cannot use port ${port}: ${error.message}`);
    },
  );
  if (isListening) {
    probe.close();
    await once(probe, 'close');
  }
  return isListening;
}

/** The operator token, a file for customers to connect, and the secret of the test provider; made the first time. @param {string} dataDir */
function prepare(dataDir) {
  const samples = join(dataDir, 'samples');
  try {
    mkdirSync(samples, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK);
    accessSync(samples, constants.W_OK);
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    throw new DemoError(`Cannot write to the folder ${dataDir}. ${why}\nChoose a different folder with --data-dir.`);
  }
  const tokenFile = join(dataDir, 'operator-token');
  if (!existsSync(tokenFile))
    writeFileSync(tokenFile, `demo-${randomBytes(32).toString('base64url')}`, { mode: 0o600 });
  const ordersFile = join(samples, 'orders.csv');
  if (!existsSync(ordersFile)) writeFileSync(ordersFile, sampleOrders(500));
  const file = join(dataDir, 'test-provider.json');
  const { port, secret } = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { port: undefined, secret: randomBytes(32).toString('base64url') };
  return {
    tokenFile,
    operatorToken: readFileSync(tokenFile, 'utf8'),
    samples,
    ordersFile,
    provider: { file, port, secret },
  };
}

/** @param {number} count */
function sampleOrders(count) {
  const products = ['Espresso beans', 'Filter beans', 'Mug', 'Grinder', 'Gift card'];
  const lines = Array.from({ length: count }, (_, index) => {
    const date = new Date(Date.UTC(2025, 0, 1, 8, index * 37)).toISOString();
    const quantity = 1 + ((index * 7) % 4);
    return [index + 1, date, products[(index * 3) % products.length], quantity, (quantity * 8.5).toFixed(2)].join(',');
  });
  return `order_id,ordered_at,product,quantity,total\n${lines.join('\n')}\n`;
}

/** @param {{ port: number, dataDir: string, operatorToken: string, samples: string }} options */
function startService({ port, dataDir, operatorToken, samples }) {
  const url = `http://localhost:${port}`;
  const logFile = join(dataDir, 'service.log');
  const log = openSync(logFile, 'w');
  // Settings of a real deployment in this shell must not reach the demo.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(INLAY_.*|PORT|HOST|LOG_LEVEL)$/.test(name));
  const env = {
    ...Object.fromEntries(inherited),
    PORT: String(port),
    INLAY_PUBLIC_URL: url,
    INLAY_DATA_DIR: dataDir,
    INLAY_OPERATOR_TOKEN: operatorToken,
    INLAY_READABLE_DIRS: samples,
  };
  const program = join(root, 'server/bin/inlay.js');
  // Detached: Ctrl-C reaches the whole foreground group, and a second signal would make the service stop at once.
  const child = spawn(process.execPath, [program, 'start'], {
    cwd: dataDir,
    detached: true,
    stdio: ['ignore', log, log],
    env,
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  /** @param {string} what */
  const fault = (what) => new DemoError(`${what} The end of its log ${logFile}:\n\n${tail(logFile)}`);
  return {
    url,
    async untilReady() {
      const deadline = performance.now() + readyTimeoutMs;
      while (!(await answers(`${url}/health/ready`))) {
        if (!isRunning()) throw fault('The service did not start.');
        if (performance.now() > deadline) throw fault('The service was not ready within a minute.');
        await delay(100);
      }
    },
    /** The address of the console, with a code that signs in once, within 15 minutes. @returns {Promise<string>} */
    async consoleLink() {
      const asked = [program, 'console', 'link', '--name', 'demo', '--json'];
      const { stdout } = await promisify(execFile)(process.execPath, asked, { cwd: dataDir, env });
      return JSON.parse(stdout).url;
    },
    /** Never resolves; rejects if the service exits on its own. */
    async untilLost() {
      await exited;
      throw fault('The service exited unexpectedly.');
    },
    async stop() {
      child.kill('SIGTERM');
      if (isRunning()) await exited;
    },
  };
}

/** @param {string} url @returns {Promise<boolean>} */
async function answers(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // Not there yet. The caller knows when to give up.
  }
}

/** @param {string} file */
function tail(file) {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
}

/** Resolves with the first signal; the second one ends everything at once. @returns {Promise<void>} */
function untilSignalled() {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = () => {
      if (isStopping) process.exit(1);
      isStopping = true;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  });
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        port: { type: 'string' },
        'page-port': { type: 'string' },
        'provider-port': { type: 'string' },
        'data-dir': { type: 'string', default: join(root, 'data/demo') },
        'no-build': { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    const options = '--port, --page-port, --provider-port, --data-dir, --no-build';
    throw new DemoError(`${error instanceof Error ? error.message : error}\nOptions: ${options}`);
  }
}

async function main() {
  const values = readOptions();
  const dataDir = resolve(values['data-dir']);
  if (!values['no-build']) await build();
  const port = await choosePort(values.port ?? (process.env.PORT || undefined), 8080, '--port or PORT');
  const pagePort = await choosePort(values['page-port'], 8090, '--page-port');
  const { tokenFile, operatorToken, samples, ordersFile, provider: known } = prepare(dataDir);
  // The service knows the provider by its address, so the port stays the same if possible. Otherwise the OAuth client
  // gets the new address.
  const providerPort = await choosePort(values['provider-port'], Number(known.port ?? 8095), '--provider-port');
  writeFileSync(known.file, JSON.stringify({ port: String(providerPort), secret: known.secret }), { mode: 0o600 });

  const signalled = untilSignalled();
  const service = startService({ port, dataDir, operatorToken, samples });
  async function serve() {
    await service.untilReady();
    const app = { clientId: 'demo', clientSecret: known.secret };
    const provider = await startTestProvider({ port: providerPort, ...app });
    const { url } = provider;
    await ensureTemplates({ inlayUrl: service.url, operatorToken, ordersFile, provider: { url, ...app } });
    const consoleLink = await service.consoleLink();
    const page = await startHostApp({ port: pagePort, inlayUrl: service.url, operatorToken });
    const lines = [
      `Open  ${page.url}`,
      '      A sample product with the widget, as your customers would see it.',
      '',
      `Open  ${consoleLink}`,
      '      The console, where you see every customer. This link works once, within 15 minutes;',
      `      after that, sign in with the token in ${tokenFile}`,
      '',
      `Synced data arrives in ${join(dataDir, 'files')}`,
      'Press Ctrl+C to stop the demo.',
    ];
    console.log(`\n${lines.map((line) => (line ? `  ${line}` : line)).join('\n')}\n`);
    // Nobody waits for them: they fill the console's lists of customers.
    const others = ensureCustomers({ inlayUrl: service.url, operatorToken, provider, signal: ending.signal });
    others.catch(
      (error) => ending.signal.aborted || console.error(`Some sample customers could not be created. ${error}`),
    );
    await service.untilLost();
  }
  const ending = new AbortController();
  try {
    await Promise.race([signalled, serve()]);
  } finally {
    ending.abort();
    await service.stop();
  }
}

if (isMain(import.meta.url)) {
  try {
    await main();
    // The page listens in this process.
    process.exit();
  } catch (error) {
    console.error(error instanceof DemoError ? error.message : error);
    process.exit(1);
  }
}
