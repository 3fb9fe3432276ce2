import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildEmbed } from '../build.mjs';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const sizeLimitBytes = 4_096;

/** A project that has installed the package, and React, and nothing else of ours. */
let project: string;
let scriptFile: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'inlay-embed-package-'));
  const installed = join(project, 'node_modules/inlay-embed');
  scriptFile = join(project, 'embed.js');
  await buildEmbed({ packageFolder: join(installed, 'dist'), scriptFile });
  await cp(join(root, 'embed/package.json'), join(installed, 'package.json'));
  await cp(join(root, 'embed/README.md'), join(installed, 'README.md'));
  await mkdir(join(project, 'node_modules/@types'));
  for (const name of ['react', 'react-dom', 'scheduler', 'csstype', '@types/react']) {
    await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name));
  }
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rm(project, { recursive: true, force: true }));

it('is at most 4 kB as a script, compressed', async () => {
  const size = gzipSync(await readFile(scriptFile), { level: 9 }).length;
  expect(size).toBeLessThanOrEqual(sizeLimitBytes);
});

it('publishes the library, its types and the README, and depends on nothing', async () => {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: join(project, 'node_modules/inlay-embed'),
    env: { ...process.env, npm_config_cache: join(project, 'cache'), npm_config_update_notifier: 'false' },
  });
  const [packed] = JSON.parse(stdout) as { files: { path: string }[] }[];
  const paths = packed?.files.map(({ path }) => path) ?? [];
  expect(paths).toEqual(
    expect.arrayContaining([
      'README.md',
      'package.json',
      'dist/inlay-embed.js',
      'dist/inlay-embed.d.ts',
      'dist/react.js',
      'dist/react.d.ts',
    ]),
  );
  expect(paths.filter((path) => !/^(README\.md|package\.json|dist\/[\w-]+(\.d\.ts|\.js))$/.test(path))).toEqual([]);
  expect(JSON.parse(await readFile(join(root, 'embed/package.json'), 'utf8')).dependencies).toBeUndefined();
});

it('has types that stand alone', async () => {
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

it('can be imported and rendered where there is no window', async () => {
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
