// Writes the compiled code of the programs in dist/ beside them, for compiled-program.js: a start then takes three quarters
// of its CPU time. The build runs it. A packaged release comes without that code, which fits one release of Node.js and is
// different each time; where it is installed to stay, such as in a container image, this adds it:
//
//   node bin/code-cache.mjs
//
// Only functions that have run are in it. So a process of its own starts the service in an empty folder, asks a few
// things, writes the code and ends. A connector only says what it can be configured with: most of its start is loading the
// packages that it uses.

import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Those that load large packages: with compiled code they start in two thirds of the CPU time. */
export const heavyConnectors = ['declarative', 'describe-manifests', 'file', 'http-api', 's3'];
const deadlineMs = 120_000;
/**
 * As connectors are started with by default (platform/src/runner/programs.ts): V8 keeps code only for the options that it
 * was compiled with.
 */
const heapOfConnectors = '--max-old-space-size=768';
/** Only for this start. */
const operatorToken = 'operator-token-of-a-start-that-only-warms-up';

/** @param {string} folder of a build */
export async function writeCodeCaches(folder) {
  const ofConnectors = async () => {
    for (const name of heavyConnectors) {
      const file = join(folder, 'connectors', `${name}.js`);
      await runHere([heapOfConnectors], [file, 'connector'], { PATH: process.env.PATH });
    }
  };
  await Promise.all([
    writeCodeCache(join(folder, 'inlay.cjs')),
    writeCodeCache(join(folder, 'commands.cjs'), 'commands'),
    ofConnectors(),
  ]);
}

/** @param {string} program a bundled CommonJS file @param {'service' | 'commands'} kind */
export async function writeCodeCache(program, kind = 'service') {
  const dataDir = mkdtempSync(join(tmpdir(), 'inlay-code-cache-'));
  const env = {
    PATH: process.env.PATH,
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    INLAY_DATA_DIR: dataDir,
    INLAY_OPERATOR_TOKEN: operatorToken,
    LOG_LEVEL: 'error',
  };
  try {
    await runHere([], [program, kind], env);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** @param {string[]} options @param {string[]} args @param {NodeJS.ProcessEnv} env */
async function runHere(options, args, env) {
  const script = fileURLToPath(import.meta.url);
  try {
    await promisify(execFile)(process.execPath, [...options, script, ...args], { env, timeout: deadlineMs });
  } catch (error) {
    // Everything works without it, only slower.
    console.warn(`Failed to cache the compiled code of ${args[0]}: ${error instanceof Error ? error.message : error}`);
  }
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject).listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** @param {string} program */
async function warmUp(program) {
  const { runProgram } = createRequire(import.meta.url)('./compiled-program.js');
  process.argv = [process.execPath, program, 'start'];
  const script = runProgram(program);
  const url = `http://127.0.0.1:${process.env.PORT}`;
  while (!(await isReady(url))) await delay(20);
  const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ workspace_name: 'warm-up' });
  for (const [path, init] of /** @type {[string, RequestInit][]} */ ([
    ['/api/v1/embedded/scoped-token', { method: 'POST', headers, body }],
    ['/api/v1/workspaces', { headers }],
    ['/api/v1/integrations/definitions/sources', { headers }],
    ['/api/v1/nothing', { headers }],
    ['/metrics', {}],
  ])) {
    await (await fetch(url + path, init)).arrayBuffer();
  }
  keep(program, script);
  // Its data goes anyway.
  process.exit(0);
}

/** What most commands need is kept; more would slow down each of them. @param {string} program */
async function warmUpCommands(program) {
  const require = createRequire(import.meta.url);
  const vm = require('node:vm');
  /** Of both files: the program loads the other one. @type {Map<string, import('node:vm').Script>} */
  const scripts = new Map();
  vm.Script = class extends vm.Script {
    /** @param {string} code @param {{ filename: string }} options */
    constructor(code, options) {
      super(code, options);
      scripts.set(options.filename, this);
    }
  };
  process.argv = [process.execPath, program, '--version'];
  const { exports } = require('./compiled-program.js').loadProgram(program);
  for (const command of [['organization', 'create', '--name', 'warm-up'], ['operator-token', 'list'], ['status']]) {
    await exports.runCommandLine(command);
  }
  for (const [file, script] of scripts) keep(file, script);
  process.exit(0);
}

/** @param {string} file */
async function warmUpConnector(file) {
  const { loadProgram } = createRequire(import.meta.url)('./compiled-program.js');
  const { script, exports } = loadProgram(file);
  // One of them has no configuration of its own.
  if (exports.connector) await exports.runProgram(exports.connector, ['spec']);
  keep(file, script);
}

/** Whole or not at all: a start may happen meanwhile. @param {string} program @param {import('node:vm').Script} script */
function keep(program, script) {
  const unfinished = `${program}.${process.pid}`;
  writeFileSync(unfinished, script.createCachedData());
  renameSync(unfinished, `${program}.cache`);
}

/** @param {string} url */
async function isReady(url) {
  try {
    return (await fetch(`${url}/health/ready`)).ok;
  } catch {
    return false;
  }
}

const started = process.argv[1];
if (started !== undefined && realpathSync(started) === fileURLToPath(import.meta.url)) {
  const [program = '', kind] = process.argv.slice(2);
  if (kind === 'service') await warmUp(program);
  else if (kind === 'commands') await warmUpCommands(program);
  else if (kind === 'connector') await warmUpConnector(program);
  else await writeCodeCaches(fileURLToPath(new URL('../dist', import.meta.url)));
}
