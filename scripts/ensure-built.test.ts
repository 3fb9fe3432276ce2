import { execFile } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { isInput } from './build-inputs.mjs';
import { ensureBuilt } from './ensure-built.mjs';

let root: string;
let built: number;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'inlay-build-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  built = 0;
  write('server/src/cli.ts', 'first');
  write('package-lock.json', '{}');
});

function write(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** As slow as a real one: everything else gets its turn in between. */
async function makeBuild(folder: string): Promise<void> {
  built++;
  mkdirSync(folder, { recursive: true });
  const content = readFileSync(join(root, 'server/src/cli.ts'), 'utf8');
  writeFileSync(join(folder, 'inlay.js'), content);
  await new Promise((resolve) => setImmediate(resolve));
  writeFileSync(join(folder, 'page.js'), content);
}

const ensure = (make = makeBuild) => ensureBuilt({ root, makeBuild: make, tell: () => {} });
const inDist = (name = 'inlay.js') => readFileSync(join(root, 'server/dist', name), 'utf8');

it('builds once, and again only when something has changed', async () => {
  expect((await ensure()).isNew).toBe(true);
  expect((await ensure()).isNew).toBe(false);
  expect([built, inDist()]).toEqual([1, 'first']);

  write('server/src/cli.ts', 'secnd'); // As long as before.
  await ensure();
  expect([built, inDist()]).toEqual([2, 'secnd']);
  write('server/src/more.ts', '');
  await ensure();
  write('package-lock.json', '{ }');
  await ensure();
  rmSync(join(root, 'server/src/more.ts'));
  await ensure();
  expect(built).toBe(5);
});

it('says that it builds and how far it is, before each step, and nothing when there is nothing to do', async () => {
  const told: string[] = [];
  const tell = (line: string) => void told.push(line);
  const inSteps = async (folder: string, step: typeof tell) => {
    expect(told).toEqual([expect.stringMatching(/^Building Inlay\./)]);
    step('first step');
    await makeBuild(folder);
  };
  await ensureBuilt({ root, makeBuild: inSteps, tell });
  expect(told[1]).toBe('first step');
  await ensureBuilt({ root, makeBuild: inSteps, tell });
  expect(told).toHaveLength(2);
});

it('adds a line while a step takes long, even if the step blocks the process', async () => {
  const file = join(root, 'progress');
  const output = openSync(file, 'w');
  onTestFinished(() => closeSync(output));
  const slowly = async (folder: string) => {
    while (readFileSync(file, 'utf8') === '') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    await makeBuild(folder);
  };
  await ensureBuilt({ root, makeBuild: slowly, tell: () => {}, output });
  expect(readFileSync(file, 'utf8')).toMatch(/^( +still building after \d+ s\n)+$/);
});

it('may be run by another user than the one who built', async () => {
  const { folder } = await ensure();
  const modes = [folder, dirname(folder)].map((path) => statSync(path).mode & 0o055 & ~process.umask());
  expect(modes).toEqual(Array(2).fill(0o055 & ~process.umask()));
});

it('takes a build again that was made before', async () => {
  await ensure();
  write('server/src/cli.ts', 'second');
  await ensure();
  write('server/src/cli.ts', 'first');
  expect((await ensure()).isNew).toBe(false);
  expect([built, inDist()]).toEqual([2, 'first']);
});

it('does not build for a test, or for what was built', async () => {
  await ensure();
  write('server/src/cli.test.ts', 'x');
  write('server/test/support/app.ts', 'x');
  write('embed/dist/inlay-embed.js', 'x');
  write('server/node_modules/x/index.js', 'x');
  await ensure();
  expect(built).toBe(1);
});

it('leaves what is running its build, and shows no half of a new one', async () => {
  await ensure();
  const running = realpathSync(join(root, 'server/dist'));
  write('server/src/cli.ts', 'second');
  await ensure(async (folder) => {
    await makeBuild(folder);
    expect([inDist(), inDist('page.js')]).toEqual(['first', 'first']);
  });
  expect([inDist(), inDist('page.js')]).toEqual(['second', 'second']);
  expect(readFileSync(join(running, 'page.js'), 'utf8')).toBe('first');
});

it('leaves everything as it was when the build fails', async () => {
  await ensure();
  write('server/src/cli.ts', 'broken');
  await expect(
    ensure(async (folder) => {
      await makeBuild(folder);
      throw new Error('a mistake');
    }),
  ).rejects.toThrow('a mistake');
  expect(inDist()).toBe('first');
  expect(readdirSync(join(root, 'server/builds'))).toHaveLength(1);
});

it('rebuilds what was edited during the build', async () => {
  await ensure(async (folder) => {
    await makeBuild(folder);
    if (built === 1) write('server/src/cli.ts', 'edited');
  });
  expect([built, inDist(), inDist('page.js')]).toEqual([2, 'edited', 'edited']);
});

it('lets several build at a time, and the newest content wins', async () => {
  let edit = () => write('server/src/cli.ts', 'newest');
  const runs = Array.from({ length: 4 }, () =>
    ensure(async (folder) => {
      await makeBuild(folder);
      edit();
      edit = () => {};
    }),
  );
  const folders = new Set((await Promise.all(runs)).map(({ folder }) => folder));
  expect(folders.size).toBe(1);
  expect([inDist(), inDist('page.js')]).toEqual(['newest', 'newest']);
  expect(readdirSync(join(root, 'server/builds'))).toHaveLength(1);
});

it('takes the place of a folder that an earlier version built into', async () => {
  write('server/dist/inlay.js', 'old');
  await ensure();
  expect(inDist()).toBe('first');
});

it('keeps the latest builds and no more', async () => {
  for (let i = 0; i < 12; i++) {
    write('server/src/cli.ts', String(i));
    await ensure();
  }
  const builds = readdirSync(join(root, 'server/builds'));
  expect(builds).toHaveLength(10);
  expect(builds).toContain(readlinkSync(join(root, 'server/dist')).split('/')[1]);
});

it('knows which files the fingerprint covers', () => {
  expect(['server/src/cli.ts', 'node_modules/kysely/index.js', 'widget/src/main.tsx'].map(isInput)).toEqual([
    true,
    true,
    true,
  ]);
  expect(['server/test/app.ts', 'server/src/a.test.ts', 'bench/main.ts'].map(isInput)).toEqual([false, false, false]);
});

it('a build of a tree without git knows only the commit that it is told', async () => {
  onTestFinished(() => vi.unstubAllEnvs());
  await ensure();
  expect(inDist('commit')).toBe('');
  for (const [told, known] of [
    ['c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00', 'c0ffee00'],
    ['unknown', ''],
  ]) {
    vi.stubEnv('INLAY_COMMIT', told);
    await ensure();
    expect(inDist('commit')).toBe(known);
  }
});

it('without the development dependencies, says what a build needs', async () => {
  const repository = fileURLToPath(new URL('..', import.meta.url));
  for (const path of ['scripts', 'server/bin', 'embed/build.mjs', 'webhooks/build.mjs', 'package.json']) {
    cpSync(join(repository, path), join(root, path), {
      recursive: true,
      filter: (source) => !source.includes('node_modules'),
    });
  }
  const { code, stderr } = await promisify(execFile)(process.execPath, [join(root, 'scripts/ensure-built.mjs')]).catch(
    (error) => error,
  );
  expect(code).toBe(1);
  expect(stderr).toContain('Run "npm ci" without --omit=dev');
});
