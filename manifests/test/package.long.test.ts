/* The package as others get it: packed, installed into an empty folder, run and compiled against. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startBooksApi, token } from '../../examples/books/api.mjs';
import { buildPackage } from '../build.mjs';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

test('the package installs into an empty folder, and its command, library and types work there', async () => {
  const project = await mkdtemp(join(tmpdir(), 'inlay-manifests-project-'));
  onTestFinished(() => rm(project, { recursive: true, force: true }));
  const tarball = await buildPackage(join(project, 'packed'));
  const folder = join(project, 'empty');
  await mkdir(folder);
  const env = { ...process.env, npm_config_cache: join(project, 'cache'), npm_config_update_notifier: 'false' };
  await writeFile(join(folder, 'package.json'), '{ "name": "empty", "type": "module" }');
  await run('npm', ['install', tarball, '@types/node@20', '--no-audit', '--no-fund'], { cwd: folder, env });

  for (const name of ['books.yaml', 'catalog.json'])
    await copyFile(join(root, 'examples/books', name), join(folder, name));
  const api = await startBooksApi({ port: 0 });
  onTestFinished(() => void api.close());
  await writeFile(join(folder, 'config.json'), JSON.stringify({ url: api.url, token }));
  const inlay = async (...args: string[]) =>
    (await run('npx', ['--no-install', 'inlay-manifests', ...args], { cwd: folder, env })).stdout;
  expect(await inlay('--help')).toContain('Usage: inlay-manifests COMMAND MANIFEST');
  expect(JSON.parse(await inlay('spec', 'books.yaml')).type).toBe('SPEC');
  const config = ['--config', 'config.json'];
  expect(JSON.parse(await inlay('check', 'books.yaml', ...config)).connectionStatus.status).toBe('SUCCEEDED');
  expect(JSON.parse(await inlay('discover', 'books.yaml', ...config)).catalog.streams).toHaveLength(2);
  const read = await inlay('read', 'books.yaml', ...config, '--catalog', 'catalog.json');
  expect(read.split('\n').filter((line) => line.startsWith('{"type":"RECORD"'))).toHaveLength(28);

  const readme = await readFile(join(root, 'manifests/README.md'), 'utf8');
  const example = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  await writeFile(
    join(folder, 'example.js'),
    example
      .replace("'source.yaml'", "'books.yaml'")
      .replace(/const config = .*;/, `const config = ${JSON.stringify({ url: api.url, token })};`)
      .replace('discover(manifest, config)', 'discover(manifest, config, { allowPrivateNetworks: true })')
      .replace('read(manifest, config, catalog)', 'read(manifest, config, catalog, { allowPrivateNetworks: true })'),
  );
  const { stdout } = await run(process.execPath, ['example.js'], { cwd: folder });
  expect(stdout.trim().split('\n')).toHaveLength(28);

  await writeFile(
    join(folder, 'typed.ts'),
    `import { check, type Catalog, ConnectorError, discover, read } from 'inlay-manifests';
export const catalog: Promise<Catalog> = discover('', {}, { allowPrivateNetworks: true });
export const kind = (error: ConnectorError): string => error.failureType;
for await (const message of read('', {}, { streams: [] })) if (message.type === 'STATE') console.log(message.state.type);
// @ts-expect-error: a configuration is an object
void check('', 1);
`,
  );
  const options = [
    '--strict',
    '--noEmit',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--ignoreConfig',
    '--types',
    'node',
  ];
  const compiled = await run(join(root, 'node_modules/.bin/tsc'), [...options, 'typed.ts'], { cwd: folder }).catch(
    (error) => error,
  );
  expect(compiled.stdout).toBe('');
});
