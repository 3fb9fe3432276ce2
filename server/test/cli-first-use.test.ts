/**
 * The command line in the hands of someone new: called in the wrong folder, with a misspelled variable, on a directory that
 * cannot be written, or with `| head` behind it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startBooksApi } from '../../examples/books/api.mjs';
import { runCommand } from './support/command-line.ts';
import { createTestDatabase } from './support/databases.ts';
import { runCli, startService } from './support/service.ts';

const product = fileURLToPath(new URL('../bin/inlay.js', import.meta.url));
const id = '00000000-0000-4000-8000-000000000000';

const folders: string[] = [];
function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-first-use-'));
  folders.push(folder);
  return folder;
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Every command that works with the data of a deployment and does not begin one. */
const commands = [
  'status',
  'workspaces',
  'jobs',
  'logs 1',
  'events tail --no-follow',
  'events listen',
  'webhooks list',
  `webhooks deliveries ${id}`,
  `webhooks test ${id}`,
  'webhooks create https://example.com/',
  `webhooks delete ${id}`,
  `webhooks rotate-secret ${id}`,
  `webhooks enable ${id}`,
  `webhooks disable ${id}`,
  'audit verify',
  'audit export',
  'audit checkpoint',
  'audit erase --address 192.0.2.1',
  'audit rotate-key',
  'organization list',
  'operator-token list',
  'operator-token create --name x',
  `operator-token revoke ${id}`,
  `operator-token rotate ${id}`,
  'console sessions',
  'console link',
  `console end ${id}`,
  'keys list',
  'keys rotate',
  'keys remove x',
  'encryption-key rotate',
  'connector list',
  `connector remove ${id}`,
  `oauth test ${id}`,
].map((command) => command.split(' '));

describe('A command in the wrong place', () => {
  it.each(commands)('makes no deployment there: inlay %s %s', async (...args) => {
    const folder = emptyFolder();
    const dataDir = join(folder, 'data');
    expect(await runCommand(args, { env: { INLAY_DATA_DIR: dataDir } })).toEqual({
      code: 1,
      stdout: '',
      stderr: `No Inlay data at ${dataDir}. Set INLAY_DATA_DIR.\n`,
    });
    expect(readdirSync(folder)).toEqual([]);
    // Nor in a folder that is there and holds other things.
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'report.txt'), '');
    expect((await runCommand(args, { env: { INLAY_DATA_DIR: dataDir } })).stderr).toBe(
      `No Inlay data at ${dataDir}. Set INLAY_DATA_DIR.\n`,
    );
    expect(readdirSync(dataDir)).toEqual(['report.txt']);
  });

  it('looks below the present folder unless INLAY_DATA_DIR says otherwise, as a process', async () => {
    const { code, stderr } = await runCli(['status']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^No Inlay data at \/.*\/inlay-cli-\w+\/data\. Set INLAY_DATA_DIR\.\n$/),
    ]);
  });

  it('changes nothing in a PostgreSQL database without Inlay in it', async () => {
    const database = await createTestDatabase('postgres');
    onTestFinished(() => database.drop());
    const folder = emptyFolder();
    const env = { INLAY_DATABASE_URL: database.url, INLAY_DATA_DIR: join(folder, 'data') };
    for (const args of commands) {
      const { code, stderr } = await runCommand(args, { env });
      const isAboutPlatform = args[0] === 'connector';
      expect([code, stderr], args.join(' ')).toEqual([
        1,
        isAboutPlatform
          ? expect.stringMatching(/^No Inlay data /)
          : 'No Inlay data at this database. Check INLAY_DATABASE_URL.\n',
      ]);
    }
    const client = new pg.Client({ connectionString: database.url ?? '' });
    await client.connect();
    const { rows } = await client.query("select count(*)::int from pg_tables where schemaname = 'public'");
    await client.end();
    expect([rows, readdirSync(folder)]).toEqual([[{ count: 0 }], []]);
  });

  it('gets no such error from doctor, which creates nothing either', async () => {
    const folder = emptyFolder();
    const { stdout } = await runCommand(['doctor'], { env: { INLAY_DATA_DIR: join(folder, 'data') } });
    expect(stdout).toContain(`${join(folder, 'data')} will be created on first start`);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('A command that reads', () => {
  it('makes no key, no credentials and no platform beside a database that has none', async () => {
    const dataDir = emptyFolder();
    const env = { INLAY_DATA_DIR: dataDir };
    expect((await runCommand(['organization', 'create', '--name', 'Acme'], { env })).code).toBe(0);
    const before = readdirSync(dataDir).sort();
    for (const args of [
      ['status'],
      ['webhooks', 'list'],
      ['connector', 'list'],
      ['keys', 'list'],
      ['audit', 'verify'],
    ]) {
      await runCommand(args, { env });
      expect(readdirSync(dataDir).sort(), args.join(' ')).toEqual(before);
    }
  });
});

describe('A variable that is not ours', () => {
  it('stops the start and every command if it is a misspelling, and nothing is made', async () => {
    const folder = emptyFolder();
    const env = { INLAY_DATA_DIR: join(folder, 'data'), INLAY_DATABSE_URL: 'postgres://secret@localhost/x' };
    for (const command of ['start', 'platform', 'status', 'migrate']) {
      const { code, stdout, stderr } = await runCommand([command], { env });
      expect([code, stdout], command).toEqual([1, '']);
      expect(stderr).toBe(
        'Invalid configuration:\n  - Unknown variable INLAY_DATABSE_URL. Did you mean INLAY_DATABASE_URL?\n',
      );
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is a warning of the start and of doctor otherwise, and what Kubernetes injects is none', async () => {
    const dataDir = emptyFolder();
    chmodSync(dataDir, 0o700);
    const env = {
      INLAY_COLOUR: 'blue',
      INLAY_SERVICE_HOST: '10.0.0.11',
      INLAY_SERVICE_PORT: '8000',
      INLAY_SERVICE_PORT_HTTP: '8000',
      INLAY_PORT: 'tcp://10.0.0.11:8000',
      INLAY_PORT_8000_TCP: 'tcp://10.0.0.11:8000',
      INLAY_PORT_8000_TCP_PROTO: 'tcp',
      INLAY_PORT_8000_TCP_PORT: '8000',
      INLAY_PORT_8000_TCP_ADDR: '10.0.0.11',
    };
    const service = await startService({ dataDir, env });
    onTestFinished(() => service.kill());
    const warnings = service
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":"warn"'));
    expect(warnings).toEqual([expect.stringContaining('Unknown variable INLAY_COLOUR')]);
    await service.stop();
    const { stdout } = await runCommand(['doctor'], { env: { ...env, INLAY_DATA_DIR: dataDir } });
    expect(stdout.match(/Unknown variable INLAY_\w+/g)).toEqual(['Unknown variable INLAY_COLOUR']);
  });
});

describe('A data directory that cannot be used', () => {
  const user = 65_534;
  /** Root may write everywhere, so the product runs as nobody. */
  const asNobody = process.getuid?.() === 0 ? { uid: user, gid: user } : {};
  const runAs = (args: string[], dataDir: string) =>
    spawnSync(process.execPath, [product, ...args], {
      cwd: '/',
      env: { PATH: process.env.PATH, INLAY_DATA_DIR: dataDir },
      encoding: 'utf8',
      ...asNobody,
    });
  const runsAs = (asNobody.uid ?? process.getuid?.()) as number;
  const group = (asNobody.gid ?? process.getgid?.()) as number;
  const owner = `belongs to user ${process.getuid?.()}, group ${process.getgid?.()}, while Inlay runs as user ${runsAs}, group ${group}`;
  const advice = 'Give the user that runs Inlay access to it, or set INLAY_DATA_DIR to a different directory.\n';

  it('is named with its path and permission by the start, by commands and by doctor', () => {
    const parent = emptyFolder();
    chmodSync(parent, 0o755);
    const dataDir = join(parent, 'data');
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'inlay.db'), '');
    chmodSync(join(dataDir, 'inlay.db'), 0o666);
    chmodSync(dataDir, 0o555);
    for (const command of ['start', 'platform', 'migrate', 'status']) {
      const { status, stdout, stderr } = runAs([command], dataDir);
      expect([status, stdout, stderr], command).toEqual([
        1,
        '',
        `Cannot use the data directory ${dataDir}: ${dataDir} has permission 0555 and ${owner}.\n${advice}`,
      ]);
    }
    expect(runAs(['doctor'], dataDir).stdout).toContain(
      `FAIL  Data directory: cannot use ${dataDir}: ${dataDir} has permission 0555 and ${owner}`,
    );
    chmodSync(dataDir, 0o755);
  });

  it('is named with the folder above it when it cannot be created', () => {
    const parent = emptyFolder();
    chmodSync(parent, 0o555);
    const { status, stderr } = runAs(['start'], join(parent, 'a/data'));
    expect([status, stderr]).toEqual([
      1,
      `Cannot create the data directory ${parent}/a/data: ${parent} has permission 0555 and ${owner}.\n${advice}`,
    ]);
    chmodSync(parent, 0o755);
  });

  it('is named with the file in it that another user has made', () => {
    const dataDir = emptyFolder();
    chmodSync(dataDir, 0o777);
    const file = join(dataDir, 'inlay.db');
    writeFileSync(file, '', { mode: 0o400 });
    const { status, stderr } = runAs(['start'], dataDir);
    expect([status, stderr]).toEqual([
      1,
      `Cannot use the data directory ${dataDir}: ${file} has permission 0400 and ${owner}.\n${advice}`,
    ]);
  });
});

describe('A command whose reader has read enough', () => {
  async function withoutReader(args: readonly string[], env: Record<string, string> = {}) {
    const child = spawn(process.execPath, args, {
      cwd: emptyFolder(),
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      complaints += chunk;
    });
    const [code] = await once(child, 'close');
    return { code, complaints };
  }

  it('ends in order, whatever it prints', async () => {
    const env = { INLAY_DATA_DIR: emptyFolder() };
    await runCommand(['organization', 'create', '--name', 'Acme'], { env });
    const commands = [
      'status',
      'organization list',
      'audit export',
      'keys list',
      'doctor',
      'connector list',
      'migrate',
    ];
    for (const command of commands) {
      expect(await withoutReader([product, ...command.split(' ')], env), command).toEqual({ code: 0, complaints: '' });
    }
  });

  it('ends in order when a connector prints in its place', async () => {
    const { url, close } = await startBooksApi({ port: 0 });
    onTestFinished(() => void close());
    const config = join(emptyFolder(), 'config.json');
    writeFileSync(config, JSON.stringify({ url, token: 'library-card' }));
    const books = (name: string) => fileURLToPath(new URL(`../../examples/books/${name}`, import.meta.url));
    const run = [product, 'connector', 'run', books('books.yaml')];
    for (const args of [
      ['spec'],
      ['check', '--config', config],
      ['discover', '--config', config],
      ['read', '--config', config, '--catalog', books('catalog.json')],
    ]) {
      expect(await withoutReader([...run, ...args]), args[0]).toEqual({ code: 0, complaints: '' });
    }
    expect(await withoutReader([product, 'connector', 'check', books('books.yaml')])).toEqual({
      code: 0,
      complaints: '',
    });
  });

  it('ends in order if it is a script of the repository', async () => {
    const script = (name: string) => fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));
    expect(await withoutReader([script('simulate.mjs'), '--seeds', '1'])).toMatchObject({
      complaints: expect.not.stringMatching(/EPIPE|\n\s+at /),
    });
  });
});
