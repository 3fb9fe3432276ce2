/** Runs the seeded simulation (npm run simulate -- --seeds N --from S). */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { build } from 'esbuild';

const outfile = 'server/dist/simulate.js';
mkdirSync('server/dist', { recursive: true });
await build({
  entryPoints: ['server/test/simulation/main.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  alias: { '@inlay/contract': './contract/src' },
  logLevel: 'error',
});
const child = spawn(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: 'inherit' });
child.on('exit', (code) => process.exit(code ?? 1));
