/** A release, as an operator gets it: unpacked into an empty folder that nobody can write to, and started there. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, type Service, startService } from '../server/test/support/service.ts';
import { isLongRun } from './long-run.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8'));
const names = {
  npm: `inlay-${version}.tgz`,
  archive: `inlay-${version}-${process.platform}-${process.arch}.tar.gz`,
};
const scratch = mkdtempSync(join(tmpdir(), 'inlay-release-'));
const packed = join(scratch, 'packed');
const folder = join(scratch, 'inlay');
const program = join(folder, 'bin/inlay.js');
const versionLine = new RegExp(
  `^inlay ${version} \\((commit [0-9a-f]{8,}(-dirty)?|built without git), Node ${process.versions.node}\\)\\n$`,
);

beforeAll(async () => {
  await run(process.execPath, [join(root, 'scripts/package.mjs'), packed]);
  await run('tar', ['-xzf', join(packed, names.archive)], { cwd: scratch });
  await run('chmod', ['-R', 'a-w', folder]);
});
afterAll(async () => {
  await run('chmod', ['-R', 'u+w', scratch]);
  rmSync(scratch, { recursive: true, force: true });
});

const filesBelow = (top: string) =>
  readdirSync(top, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(top, path)).isFile())
    .sort();

describe('the self-contained archive', () => {
  it('is small, holds binaries of this platform only, and brings the licenses and a bill of materials', () => {
    const files = filesBelow(folder);
    const bytes = files.reduce((sum, path) => sum + statSync(join(folder, path)).size, 0);
    expect(bytes).toBeLessThan(60e6);
    const binaries = files.filter((path) => path.endsWith('.node'));
    expect(binaries).not.toEqual([]);
    for (const path of binaries) expect(path).toContain(`/prebuilds/${process.platform}-${process.arch}/`);
    expect(files.filter((path) => /\.(cache|ts\.map|test\.ts)$/.test(path))).toEqual([]);

    const sbom = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8'));
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'inlay', version } } });
    expect(Object.keys(sbom)).not.toContain('serialNumber');
    expect(Object.keys(sbom.metadata)).toEqual(['component']);
    const inSbom: string[] = sbom.components.map((component: { name: string }) => component.name);
    // One of the bundle, one of the pages, one beside the bundle.
    expect(inSbom).toEqual(expect.arrayContaining(['fastify', 'preact', '@photostructure/sqlite']));
    const licenses = readFileSync(join(folder, 'licenses.txt'), 'utf8');
    for (const { name, version } of sbom.components) expect(licenses).toContain(`${name} ${version} (`);
    const shipped = files.flatMap(
      (path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(path)?.[1] ?? [],
    );
    expect(inSbom).toEqual(expect.arrayContaining(shipped));
  });

  it('says its version, its commit and its Node.js', async () => {
    expect(await runCli(['--version'], { program })).toEqual({
      code: 0,
      stdout: expect.stringMatching(versionLine),
      stderr: '',
    });
  });

  it('names sources in a stack trace by their path in the repository', async () => {
    const trap = join(scratch, 'trap.cjs');
    writeFileSync(
      trap,
      `const fs = require('node:fs');
      const { existsSync } = fs;
      fs.existsSync = (file) => {
        if (String(file).endsWith('inlay.db')) throw new Error('planted');
        return existsSync(file);
      };`,
    );
    const { stderr } = await run(process.execPath, ['--require', trap, program, 'status'], {
      env: { PATH: process.env.PATH, INLAY_DATA_DIR: join(scratch, 'nothing') },
    }).catch((error) => error);
    expect(stderr).toMatch(/ at .*\(server\/src\/edge\/cli\/opened-store\.ts:\d+:\d+\)/);
  });

  it('serves the first customer with the data elsewhere, and leaves its folder as it is', async () => {
    const states = () =>
      filesBelow(folder).map((path) => {
        const { size, mtimeMs, ino } = statSync(join(folder, path));
        return [path, size, mtimeMs, ino];
      });
    const before = states();
    const dataDir = join(scratch, 'data');
    mkdirSync(dataDir);
    const service = await startService({ program, dataDir });
    try {
      await useService(service);
    } finally {
      await service.stop();
    }
    expect(existsSync(join(dataDir, 'inlay.db'))).toBe(true);
    expect(states()).toEqual(before);
  });
});

/** As its README says, and the parts that start processes or read files. */
async function useService({ url, output }: Service): Promise<void> {
  const token = /inlay_op_[\w-]+/.exec(output())?.[0];
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = (path: string, body: object) =>
    fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect((await post('embedded/scoped-token', { workspace_name: 'my-first-customer' })).status).toBe(200);
  const list = await (await fetch(`${url}/api/v1/workspaces`, { headers })).json();
  expect(list.data).toMatchObject([{ name: 'my-first-customer' }]);
  // The destination is tested by its connector.
  const template = await post('integrations/templates/connections', {
    destination_name: 'Files',
    destination_definition_id: 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815',
    destination_config: { path: 'exports' },
    namespace_format: '',
    cron_expression: '0 * * * * ?',
  });
  expect(await template.json()).toMatchObject({ destination_name: 'Files', checked: true });
  for (const path of ['/health/ready', '/docs', '/console/', '/embed.js', '/embed.tgz', '/webhooks.tgz']) {
    expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
  }
}

// They ask the registry, or build everything again.
if (isLongRun) {
  describe('the release', () => {
    const env = { ...process.env, npm_config_cache: join(scratch, 'cache'), npm_config_update_notifier: 'false' };

    it('is installed with npm, and runs', async () => {
      const project = join(scratch, 'project');
      mkdirSync(project);
      const options = { cwd: project, env };
      await run('npm', ['install', join(packed, names.npm), '--no-audit', '--no-fund'], options);
      expect((await run('npx', ['inlay', '--version'], options)).stdout).toMatch(versionLine);
      const dataDir = join(scratch, 'data-of-npm');
      mkdirSync(dataDir);
      const installed = join(project, 'node_modules/inlay/bin/inlay.js');
      const service = await startService({ program: installed, dataDir });
      await useService(service).finally(() => service.stop());
    });

    it('can be published without a warning about the package', async () => {
      const { stderr } = await run('npm', ['publish', '--dry-run', join(packed, names.npm)], { cwd: scratch, env });
      const warnings = stderr.split('\n').filter((line) => line.startsWith('npm warn'));
      // Nobody is logged in, and the settings of the machine are its own.
      expect(warnings.filter((line) => !/requires you to be logged in|Unknown .* config/.test(line))).toEqual([]);
    });

    it('has the same bytes when everything is built again', async () => {
      const { buildProduct } = await import('./build.mjs');
      const { writePackages } = await import('./package.mjs');
      const unfinished = mkdtempSync(join(root, 'server/builds/unfinished-'));
      const again = join(scratch, 'again');
      try {
        const built = join(unfinished, 'dist');
        await buildProduct(built, () => {});
        writeFileSync(join(built, 'commit'), readFileSync(join(folder, 'dist/commit')));
        writePackages({ built, target: again });
      } finally {
        rmSync(unfinished, { recursive: true, force: true });
      }
      for (const name of Object.values(names)) {
        expect(readFileSync(join(again, name)).equals(readFileSync(join(packed, name))), name).toBe(true);
      }
    });
  });
}
