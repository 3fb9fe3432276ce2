import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('complete-lockfile.mjs', import.meta.url));
const integrityOf = (name: string) => `sha512-${Buffer.alloc(64, name).toString('base64')}`;

/** A registry that has these packages, and a lock file that lacks some. */
async function start(offered: readonly string[]) {
  const server = createServer((request, response) => {
    const [name = '', version] = decodeURIComponent(request.url ?? '')
      .slice(1)
      .split(/\/(?=[^/]*$)/);
    const isOffered = offered.includes(name);
    response.writeHead(isOffered ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isOffered ? { name, version, dist: { integrity: integrityOf(name) } } : {}));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const folder = mkdtempSync(join(tmpdir(), 'inlay-test-'));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'package-lock.json');
  const packages = {
    '': { name: 'app' },
    server: { version: '1.0.0' },
    'node_modules/@app/server': { resolved: 'server', link: true },
    'node_modules/tool': {
      version: '2.0.0',
      integrity: integrityOf('tool'),
      dev: true,
      optionalDependencies: { '@tool/linux-x64-musl': '2.0.0', '@tool/darwin-arm64': '2.0.0' },
    },
    'node_modules/@tool/darwin-arm64': { version: '2.0.0', cpu: ['arm64'], dev: true, optional: true, os: ['darwin'] },
    'node_modules/tool/node_modules/inner': { version: '1.0.0', inBundle: true },
  };
  writeFileSync(file, JSON.stringify({ lockfileVersion: 3, packages }));
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/` };
  return { file, run: () => promisify(execFile)(process.execPath, [program, file], { env }) };
}

it('gives every package that comes from a registry its integrity, those that npm left out included', async () => {
  const { file, run } = await start(['@tool/linux-x64-musl', '@tool/darwin-arm64']);
  await run();
  const { packages } = JSON.parse(readFileSync(file, 'utf8'));
  expect(packages['node_modules/@tool/linux-x64-musl']).toEqual({
    version: '2.0.0',
    integrity: integrityOf('@tool/linux-x64-musl'),
    cpu: ['x64'],
    dev: true,
    optional: true,
    os: ['linux'],
    libc: ['musl'],
  });
  expect(packages['node_modules/@tool/darwin-arm64'].integrity).toBe(integrityOf('@tool/darwin-arm64'));
  expect(packages['node_modules/tool'].integrity).toBe(integrityOf('tool'));
  for (const path of ['', 'server', 'node_modules/@app/server', 'node_modules/tool/node_modules/inner']) {
    expect(packages[path]).not.toHaveProperty('integrity');
  }
});

it('writes nothing where the registry lacks a package, and names it', async () => {
  const { file, run } = await start(['@tool/darwin-arm64']);
  const before = readFileSync(file, 'utf8');
  await expect(run()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('@tool/linux-x64-musl@2.0.0') });
  expect(readFileSync(file, 'utf8')).toBe(before);
});
