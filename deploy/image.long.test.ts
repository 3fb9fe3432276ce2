/**
 * The image of the Containerfile: built without a registry, and run as a hardened container. Debian comes from mmdebstrap,
 * Node.js from its npm package. Needs root, because a container's root file system is mounted.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../scripts/disposable.mjs';
import { installOwnPackages, nodeVersions } from '../scripts/own-packages.mjs';
import { findSystemProgram } from '../scripts/programs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8'));
const commit = 'c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00';
// Not in $TMPDIR, which may be memory: layers take a gigabyte.
const temporary = '/var/tmp';
const folder = mkdtempSync(`${temporary}/inlay-image-`);
const id = folder.replace(/.*-/, 'inlay-');
const operatorToken = 'an-operator-token-only-for-this-image';

async function run(program: string, args: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin`, TMPDIR: temporary };
  const { stdout } = await promisify(execFile)(program, args, { env, maxBuffer: 256 * 1024 * 1024 });
  return stdout.trim();
}
const buildah = (...args: string[]) =>
  run('buildah', ['--root', join(folder, 'storage'), '--runroot', join(folder, 'state'), ...args]);

interface ImageConfig {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  WorkingDir: string;
  StopSignal: string;
  Labels: Record<string, string>;
  Healthcheck: { Test: string[] };
}

let config: ImageConfig;
/** Where the root file system of a container is mounted. */
let mounted: string;

beforeAll(async () => {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') {
    throw new Error(
      'The image is built and run as root on Linux. Run this test there, for example in a virtual machine.',
    );
  }
  for (const program of ['buildah', 'crun', 'mmdebstrap']) await findSystemProgram(program);
  await makeBaseImages();
  const { binFolder } = nodeVersions[0] ?? { binFolder: '' };
  expect(existsSync(binFolder)).toBe(true);
  const settings = { BUILD_IMAGE: 'localhost/node', BASE_IMAGE: 'localhost/base', INLAY_COMMIT: commit };
  const options = Object.entries(settings).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  // Docker's format: that of OCI has no health check.
  const how = ['--isolation', 'chroot', '--format', 'docker', '-f', join(root, 'deploy/Containerfile')];
  await buildah('bud', '--quiet', ...how, ...options, '-t', 'localhost/inlay', root);
  config = JSON.parse(await buildah('inspect', '--type', 'image', 'localhost/inlay')).Docker.config;
  mounted = await buildah('mount', await buildah('from', 'localhost/inlay'));
});
afterAll(async () => {
  await buildah('umount', '--all');
  await buildah('rm', '--all');
  rmSync(folder, { recursive: true, force: true });
});

/** Debian as slim as its image, and the same with Node.js 22 and npm. */
async function makeBaseImages(): Promise<void> {
  await installOwnPackages(join(root, 'scripts/node-versions/'));
  const archive = join(folder, 'debian.tar');
  const left = ['doc', 'info', 'locale', 'man'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  await run('mmdebstrap', [
    '--quiet',
    '--variant=minbase',
    ...left,
    'bookworm',
    archive,
    'http://deb.debian.org/debian',
  ]);
  const base = await buildah('from', 'scratch');
  await buildah('add', '--quiet', base, archive, '/');
  await buildah('commit', '--quiet', base, 'localhost/base');
  rmSync(archive);
  const node = join(nodeVersions[0]?.binFolder ?? '', 'node');
  await buildah('copy', '--quiet', base, node, '/usr/local/bin/node');
  const npm = resolve(realpathSync(await findSystemProgram('npm')), '../..');
  await buildah('copy', '--quiet', base, npm, '/usr/local/lib/node_modules/npm');
  // A machine behind a proxy has its own authorities.
  const authorities = (await run('npm', ['config', 'get', 'cafile'])).replace(/^null$/, '');
  if (authorities !== '') {
    await buildah('copy', '--quiet', base, authorities, '/etc/authorities.pem');
    await buildah('config', '--env', 'npm_config_cafile=/etc/authorities.pem', base);
  }
  const link = 'ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm';
  await buildah('run', '--isolation', 'chroot', base, '--', 'sh', '-c', link);
  await buildah('commit', '--quiet', base, 'localhost/node');
}

describe('The image', () => {
  it(`is built for ${process.arch}${process.arch === 'arm64' ? '' : ' (arm64 is not run on this machine)'}`, async () => {
    expect(config).toMatchObject({
      User: '10001:10001',
      Entrypoint: ['tini', '--', 'inlay'],
      Cmd: ['start'],
      WorkingDir: '/var/lib/inlay',
      StopSignal: 'SIGTERM',
      Labels: {
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.revision': commit,
      },
    });
  });

  it('is at most 300 MB large, 110 MB compressed', async () => {
    const unpacked = Number((await run('du', ['-sxk', '--apparent-size', mounted])).split('\t')[0]) * 1024;
    const target = join(folder, 'compressed');
    await buildah('push', '--quiet', 'localhost/inlay', `dir:${target}`);
    const compressed = readdirSync(target).reduce((sum, name) => sum + statSync(join(target, name)).size, 0);
    const megabytes = (bytes: number) => Math.round(bytes / 1e6);
    console.info(`The image has ${megabytes(unpacked)} MB, ${megabytes(compressed)} MB compressed.`);
    expect(unpacked).toBeLessThanOrEqual(300e6);
    expect(compressed).toBeLessThanOrEqual(110e6);
  });

  it('has neither compilers nor npm', () => {
    const folders = ['usr/local/bin', 'usr/local/sbin', 'usr/bin', 'usr/sbin'];
    const programs = folders.flatMap((path) => readdirSync(join(mounted, path)));
    expect(programs).toEqual(expect.arrayContaining(['node', 'inlay', 'tini']));
    expect(programs.filter((name) => /^(cc|c\+\+|gcc|g\+\+|clang|make|npm|python3?|tsc)(-|$)/.test(name))).toEqual([]);
  });
});

/** How containers run: in a namespace of its own, because crun refuses a machine that has both versions of control groups. */
interface Engine {
  name: string;
  /** The arguments of `unshare` that run a command in a new container. */
  start(args: string[], env: string[]): Promise<string[]>;
  /** The same for a container that runs. */
  enter(args: string[], env: string[]): string[];
}
const withoutGroups = 'umount /sys/fs/cgroup/unified 2>/dev/null; exec "$@"';

function crun(dataDir: string): Engine {
  const bundle = join(folder, 'bundle');
  const base = ['--mount', 'sh', '-c', withoutGroups, 'sh', 'crun'];
  const options = ['--cgroup-manager=disabled', '--root', join(folder, 'crun')];
  return {
    name: 'crun',
    async start(args, env) {
      rmSync(bundle, { recursive: true, force: true });
      mkdirSync(bundle);
      await promisify(execFile)('crun', ['spec'], { cwd: bundle });
      const file = join(bundle, 'config.json');
      const spec = JSON.parse(readFileSync(file, 'utf8'));
      const [uid, gid] = config.User.split(':').map(Number);
      Object.assign(spec.process, {
        ...{ terminal: false, rlimits: [], capabilities: {}, noNewPrivileges: true },
        ...{ user: { uid, gid }, args, env, cwd: config.WorkingDir },
      });
      spec.root = { path: mounted, readonly: true };
      const writable = [
        { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev'] },
        { destination: '/var/lib/inlay', type: 'bind', source: dataDir, options: ['bind', 'rw'] },
      ];
      const own = spec.mounts.filter(({ type }: { type: string }) => type !== 'cgroup');
      spec.mounts = [...own, ...writable];
      delete spec.linux.resources;
      // The network is the machine's, so that the test reaches the service.
      const shared = ['network', 'cgroup'];
      spec.linux.namespaces = spec.linux.namespaces.filter(({ type }: { type: string }) => !shared.includes(type));
      writeFileSync(file, JSON.stringify(spec));
      return [...base, ...options, 'run', '--bundle', bundle, id];
    },
    enter: (args, env) => {
      const variables = env.flatMap((one) => ['--env', one]);
      return [
        ...base,
        ...options,
        'exec',
        '--user',
        config.User,
        '--cwd',
        config.WorkingDir,
        ...variables,
        id,
        ...args,
      ];
    },
  };
}

/** The same file system and user without a container, where the kernel allows none. */
function chroot(dataDir: string): Engine {
  const mount = `
    mount --bind "$1" "$1" && mount --bind "$2" "$1/var/lib/inlay" && mount -o remount,ro,bind "$1"
    mount -t tmpfs tmpfs "$1/tmp" && mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev"
    root=$1; shift 2; exec chroot --userspec=${config.User} "$root" /usr/bin/env -i "$@"`;
  const command = (args: string[], env: string[]) => {
    const inFolder = ['sh', '-c', 'cd /var/lib/inlay && exec "$@"', 'sh', ...args];
    return [
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      'sh',
      '-ec',
      mount,
      'sh',
      mounted,
      dataDir,
      ...env,
      ...inFolder,
    ];
  };
  return { name: 'chroot', start: async (args, env) => command(args, env), enter: command };
}

describe('A container', () => {
  const dataDir = join(folder, 'data');
  let engine: Engine;
  let env: string[];
  let port: number;

  beforeAll(async () => {
    mkdirSync(dataDir);
    chmodSync(folder, 0o711);
    const [uid = 0, gid = 0] = config.User.split(':').map(Number);
    chownSync(dataDir, uid, gid);
    port = await freePort();
    env = [...config.Env, 'HOST=127.0.0.1', `PORT=${port}`, `INLAY_OPERATOR_TOKEN=${operatorToken}`];
    engine = crun(dataDir);
    const asked = await engine.start([...config.Entrypoint, '--version'], env);
    const refusal = await run('unshare', asked).then(
      () => undefined,
      (error) => String(error.stderr),
    );
    if (refusal !== undefined) engine = chroot(dataDir);
    console.info(`The image runs in ${engine.name}${refusal ? `, because crun failed: ${refusal.trim()}` : ''}.`);
  });

  it('knows its version and commit', async () => {
    const said = await run('unshare', await engine.start([...config.Entrypoint, '--version'], env));
    expect(said).toMatch(new RegExp(`^inlay ${version} \\(commit ${commit.slice(0, 8)}[0-9a-f]*, Node 22\\.`));
  });

  it('serves as another user than root with a read-only root, is healthy, runs connectors, and ends with SIGTERM', async () => {
    const args = await engine.start([...config.Entrypoint, ...config.Cmd], env);
    const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = once(child, 'exit');
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    const isHealthy = async (more: string[] = []) => {
      const [, ...test] = config.Healthcheck.Test;
      return await run('unshare', engine.enter(test, [...env, ...more])).then(
        () => true,
        () => false,
      );
    };
    try {
      await expect.poll(() => (child.exitCode === null ? isHealthy() : output)).toBe(true);
      expect(await isHealthy(['PORT=1'])).toBe(false);

      const inside = (script: string) => run('unshare', engine.enter(['sh', '-c', script], env));
      expect(await inside('id -u')).toBe('10001');
      await expect(inside('touch /opt/inlay/file')).rejects.toThrow('Read-only file system');
      await expect(inside('touch /etc/file')).rejects.toThrow('Read-only file system');
      await inside('touch /tmp/file');

      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/integrations/templates/connections`, {
        method: 'POST',
        headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
        // The destination is tested by its connector.
        body: JSON.stringify({
          destination_name: 'Files',
          destination_definition_id: 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815',
          destination_config: { path: 'exports' },
          namespace_format: '',
        }),
      });
      expect(await answer.json()).toMatchObject({ checked: true });
      expect(statSync(join(dataDir, 'inlay.db')).uid).toBe(10001);
    } finally {
      // As an engine does: the first process of the container gets the signal of the image.
      for (const pid of await firstProcesses(child.pid)) process.kill(pid, config.StopSignal as NodeJS.Signals);
      await exited;
    }
    expect({ code: child.exitCode, signal: child.signalCode }).toEqual({ code: 0, signal: null });
    expect(output).toContain('"signal":"SIGTERM"');
  });
});

/** The processes named tini below a process. */
async function firstProcesses(top = 0): Promise<number[]> {
  const lines = (await run('ps', ['-eo', 'pid=,ppid=,comm='])).split('\n').map((line) => line.trim().split(/\s+/));
  const below = (parent: string): string[][] =>
    lines.filter(([, ppid]) => ppid === parent).flatMap((line) => [line, ...below(String(line[0]))]);
  return below(String(top))
    .filter(([, , name]) => name === 'tini')
    .map(([pid]) => Number(pid));
}
