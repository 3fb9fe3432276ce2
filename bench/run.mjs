/**
 * Runs the benchmarks (docs/reference/performance.md): `npm run bench -- [options]`, see main.ts for the options. The
 * programs are built anew, with the settings of the product, into a folder of their own that goes away.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, connectorsEntry } from '../scripts/build.mjs';

const dist = fileURLToPath(new URL('../server/dist', import.meta.url));
// An interrupted benchmark cleans up after itself, and then this script does.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child?.kill(signal));
/** @type {import('node:child_process').ChildProcess | undefined} */
let child;

await mkdir(dist, { recursive: true });
const outdir = await mkdtemp(join(dist, 'bench-'));
try {
  await build({
    outdir,
    entries: { ...connectorsEntry, main: 'bench/main.ts', 'sync-process': 'bench/sync-process.ts' },
  });
  child = spawn(process.execPath, [join(outdir, 'main.js'), ...process.argv.slice(2)], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
} finally {
  await rm(outdir, { recursive: true, force: true });
}
