/** Standard output on a full disk, or without a reader: a service runs on, a command ends in order. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../scripts/disposable.mjs';

const product = fileURLToPath(new URL('../bin/inlay.js', import.meta.url));

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-output-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function untilReady(url: string): Promise<number> {
  for (;;) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => undefined,
    );
    if (status !== undefined) return status;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

it('A service whose log is on a full disk starts, serves and stops as usual', async () => {
  const full = openSync('/dev/full', 'w');
  const port = await freePort();
  const dataDir = temporaryFolder();
  const env = { PATH: process.env.PATH, PORT: String(port), INLAY_DATA_DIR: dataDir, LOG_LEVEL: 'debug' };
  const service = spawn(process.execPath, [product, 'start'], { cwd: dataDir, env, stdio: ['ignore', full, full] });
  onTestFinished(() => void service.kill('SIGKILL'));
  const exited = once(service, 'exit');
  const ready = await Promise.race([untilReady(`http://127.0.0.1:${port}/health/ready`), exited]);
  expect(ready).toBe(200);
  for (let request = 0; request < 5; request++) {
    expect((await fetch(`http://127.0.0.1:${port}/api/v1/workspaces`)).status).toBe(401);
  }
  service.kill('SIGTERM');
  expect((await exited)[0]).toBe(0);
});

it('A command whose reader has gone ends without complaint', async () => {
  const command = spawn(process.execPath, [product, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  command.stdout.destroy();
  let complaints = '';
  command.stderr.setEncoding('utf8').on('data', (chunk) => {
    complaints += chunk;
  });
  const [code] = await once(command, 'close');
  expect([code, complaints]).toEqual([0, '']);
});

it('A command whose output finds no room says so, and fails', async () => {
  const full = openSync('/dev/full', 'w');
  const command = spawn(process.execPath, [product, '--help'], { stdio: ['ignore', full, 'pipe'] });
  let complaints = '';
  command.stderr?.setEncoding('utf8').on('data', (chunk) => {
    complaints += chunk;
  });
  const [code] = await once(command, 'close');
  expect(code).toBe(1);
  expect(complaints).toMatch(/could not be written: ENOSPC/);
  expect(complaints.trim().split('\n')).toHaveLength(1);
});
