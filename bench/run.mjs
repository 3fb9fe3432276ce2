/**
 * Runs the benchmarks (docs/reference/performance.md): `npm run bench -- [options]`, see main.ts for the options. The
 * product and the programs of the benchmarks are built into a temporary folder, laid out like the product's own. Only
 * the pages, which nothing measures, come from the product's own build.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../scripts/build.mjs';
import { writeCodeCache } from '../scripts/code-cache.mjs';
import { ensureBuilt } from '../scripts/ensure-built.mjs';

const server = fileURLToPath(new URL('../server', import.meta.url));
const pages = ['widget', 'embed', 'reference'];
const programs = [
  'main',
  'sync-process',
  'due-syncs-process',
  'load-generator',
  'bare-server',
  'page-fetcher',
  'declarative-api',
  'declarative-reader',
];
// An interrupted benchmark cleans up after itself, and then this script does.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child?.kill(signal));
/** @type {import('node:child_process').ChildProcess | undefined} */
let child;

await mkdir(join(server, 'builds'), { recursive: true });
const folder = await mkdtemp(join(server, 'builds', 'bench-'));
try {
  await build({ outdir: join(folder, 'dist') });
  const entries = Object.fromEntries(programs.map((name) => [name, `bench/${name}.ts`]));
  await build({ outdir: join(folder, 'bench'), entries });
  const { folder: product } = await ensureBuilt();
  for (const name of pages) await cp(join(product, name), join(folder, 'dist', name), { recursive: true });
  await cp(join(server, 'bin'), join(folder, 'bin'), { recursive: true });
  await writeCodeCache(join(folder, 'dist/service.cjs'));
  child = spawn(process.execPath, [join(folder, 'bench/main.js'), ...process.argv.slice(2)], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
