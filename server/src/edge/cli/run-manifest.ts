/** Runs a declarative manifest on this machine, for its author. It needs no service and reaches any address. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { builtFolder } from '../../built-folder.ts';
import { OperatorError } from '../../kernel/errors.ts';

export interface RunOptions {
  config?: string;
  catalog?: string;
  state?: string;
  now?: string;
  waits?: string;
  components?: string;
}

/** The program of the bundled connectors prints; its exit code becomes that of this command. */
export async function runManifest(file: string, command: string, options: RunOptions): Promise<void> {
  for (const given of [file, options.config, options.catalog, options.state, options.components]) {
    if (given !== undefined && !existsSync(given)) throw new OperatorError(`File not found: ${given}`);
  }
  const args = Object.entries(options).flatMap(([name, value]) => [
    `--${name}`,
    name === 'components' ? resolve(String(value)) : String(value),
  ]);
  const child = spawn(
    process.execPath,
    [join(builtFolder, 'connectors/main.js'), 'declarative', '--manifest', file, '--author', command, ...args],
    {
      stdio: 'inherit',
      env: { ...process.env, INLAY_ALLOW_PRIVATE_NETWORKS: 'true', INLAY_SERVICE_ENDPOINTS: '[]' },
    },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}
