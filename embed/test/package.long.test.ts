/** The library as a product gets it: npm installs the package from the address where the service serves it. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildServed } from '../build.mjs';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** A project that has installed the package, and React, and nothing else of ours. */
let project: string;
let served: string;
let server: Server;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'inlay-embed-project-'));
  served = join(project, 'served');
  await buildServed(served);
  server = createServer(async (_, response) => response.end(await readFile(join(served, 'embed.tgz'))));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await writeFile(join(project, 'package.json'), '{ "name": "project", "type": "module" }');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/embed.tgz`;
  await run('npm', ['install', address, '--no-audit', '--no-fund'], {
    cwd: project,
    env: { ...process.env, npm_config_cache: join(project, 'cache'), npm_config_update_notifier: 'false' },
  });
  await mkdir(join(project, 'node_modules/@types'));
  for (const name of ['react', 'react-dom', 'scheduler', 'csstype', '@types/react']) {
    await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name));
  }
});
afterAll(async () => {
  server?.close();
  await rm(project, { recursive: true, force: true });
});

it('The embed package brings the library, its types, the README and the license, and depends on nothing', async () => {
  const installed = join(project, 'node_modules/inlay-embed');
  expect((await readdir(installed)).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  const files = ['inlay-embed.d.ts', 'inlay-embed.js', 'react.d.ts', 'react.js'];
  expect((await readdir(join(installed, 'dist'))).sort()).toEqual(files);
  const {
    dependencies,
    private: isPrivate,
    scripts,
  } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  expect([dependencies, isPrivate, scripts]).toEqual([undefined, undefined, undefined]);
  expect(await readFile(join(installed, 'README.md'), 'utf8')).not.toContain('](../');
});

it('The embed library is a module that stands alone beside its types', async () => {
  const folder = join(project, 'alone');
  await mkdir(folder);
  await copyFile(join(served, 'embed.mjs'), join(folder, 'embed.mjs'));
  await copyFile(join(served, 'embed.d.ts'), join(folder, 'embed.d.mts'));
  await writeFile(
    join(folder, 'page.mts'),
    `import { type InlayEvent, type InlayTheme, open } from './embed.mjs';
const theme: InlayTheme = { radius: 4 };
open({ token: 'token', theme, onEvent: (event: InlayEvent) => event.type });
// @ts-expect-error: what the library keeps to itself is not exported
import { type MessageToHost } from './embed.mjs';
`,
  );
  const compiler = join(root, 'node_modules/.bin/tsc');
  const options = [
    '--strict',
    '--noEmit',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--types',
    '',
    '--ignoreConfig',
  ];
  const { stdout } = await run(compiler, [...options, join(folder, 'page.mts')]).catch((error) => error);
  expect(stdout).toBe('');
  const program = "import('./embed.mjs').then((library) => console.log(Object.keys(library).sort().join()))";
  expect((await run(process.execPath, ['-e', program], { cwd: folder })).stdout).toBe('mount,open\n');
});

it('The embed package has types that stand alone', async () => {
  const folder = join(project, 'node_modules/inlay-embed/dist');
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.d.ts'))) {
    expect(await readFile(join(folder, file), 'utf8'), file).not.toMatch(/@inlay\/|\.ts'/);
  }
  await writeFile(
    join(project, 'page.ts'),
    `import { type InlayEvent, mount, open } from 'inlay-embed';
import { InlayWidget, useInlay } from 'inlay-embed/react';

function told(event: InlayEvent): string | undefined {
  switch (event.type) {
    case 'source_created': return event.source.name;
    case 'sync_finished': return String(event.sync.rows);
    case 'error': return event.error.code === 'token_failed' ? event.error.message : undefined;
    default: return undefined;
  }
}
const handle = open({ getToken: async () => 'token', onEvent: told, theme: { color_scheme: 'dark' }, locale: 'de' });
handle.updateToken('token');
mount(document.body, { token: 'token' }).destroy();
// @ts-expect-error: there is no such scheme
open({ token: 'token', theme: { color_scheme: 'sepia' } });
// @ts-expect-error: an event has no such type
told({ type: 'opened' });
export const component = InlayWidget({ token: 'token', className: 'sources' });
export const isOpen: boolean = useInlay({ token: 'token' }).isOpen;
`,
  );
  for (const resolution of ['Bundler', 'NodeNext']) {
    await writeFile(
      join(project, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          target: 'ES2022',
          lib: ['ES2022', 'DOM'],
          types: [],
          module: resolution === 'Bundler' ? 'ESNext' : 'NodeNext',
          moduleResolution: resolution,
          skipLibCheck: false,
        },
        files: ['page.ts'],
      }),
    );
    const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', project]).catch((error) => error);
    expect(stdout, resolution).toBe('');
  }
});

it('The embed package can be imported and rendered where there is no window', async () => {
  await writeFile(
    join(project, 'server.js'),
    `import { mount, open } from 'inlay-embed';
import { InlayWidget } from 'inlay-embed/react';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
console.log(typeof mount, typeof open, renderToString(createElement(InlayWidget, { token: 'x', className: 'a' })));`,
  );
  const { stdout } = await run(process.execPath, [join(project, 'server.js')]);
  expect(stdout).toBe('function function <div class="a"></div>\n');
});
