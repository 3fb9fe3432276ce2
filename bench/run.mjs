/**
 * Runs the benchmarks (docs/reference/performance.md): `npm run bench -- [options]`, see main.ts for the options. The
 * programs of the benchmarks are built into a temporary folder, laid out like the product's own, beside the build of the product.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleModules } from '../scripts/build.mjs';
import { ensureBuilt } from '../scripts/ensure-built.mjs';

const server = fileURLToPath(new URL('../server', import.meta.url));
const programs = ['main', 'sync-process', 'load-generator', 'bare-server', 'declarative-reader'];
// An interrupted benchmark cleans up after itself, and then this script does.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child?.kill(signal));
/** @type {import('node:child_process').ChildProcess | undefined} */
let child;

await mkdir(join(server, 'builds'), { recursive: true });
const folder = await mkdtemp(join(server, 'builds', 'bench-'));
try {
  // A build stays as it is: a change of the sources while the benchmarks run leads to another one.
  const { folder: product } = await ensureBuilt();
  await symlink(product, join(folder, 'dist'), 'junction');
  const entries = Object.fromEntries(programs.map((name) => [name, `bench/${name}.ts`]));
  await bundleModules({ outdir: join(folder, 'bench'), entries });
  await cp(join(server, 'bin'), join(folder, 'bin'), { recursive: true });
  child = spawn(process.execPath, [join(folder, 'bench/main.js'), ...process.argv.slice(2)], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
