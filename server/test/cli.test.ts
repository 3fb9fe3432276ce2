/**
 * The command line on SQLite: every command, what it says, and the code it ends with. Each kind of command runs as a real
 * process at least once (`asProcess`), the others in the process of the test.
 */
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SqliteConnection } from '@inlay/database/connection';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { booksManifest, codedStream } from '../../manifests/test/books-manifest.ts';
import { type Exit, exitCodes } from '../src/edge/cli/exit-codes.ts';
import { runCommand } from './support/command-line.ts';
import { runCli, type Service, startService } from './support/service.ts';

const secret = /inlay_op_[0-9A-Za-z]{49}/g;
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const platformCredentials = {
  INLAY_PLATFORM_CLIENT_ID: 'the-client',
  INLAY_PLATFORM_CLIENT_SECRET: 'the-secret-of-the-client-in-tests',
};

const directories: string[] = [];
function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'inlay-cli-test-'));
  directories.push(directory);
  return directory;
}
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A command line with a data directory of its own. */
function commandLine(dataDir = temporaryDirectory(), { asProcess = false } = {}) {
  const run = asProcess ? runCli : runCommand;
  const inlay = (...args: string[]) => run(args, { env: { INLAY_DATA_DIR: dataDir } });
  const succeed = async (...args: string[]) => {
    const { code, stdout, stderr } = await inlay(...args);
    expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const failWith =
    (exit: Exit) =>
    async (...args: string[]) => {
      const { code, stdout, stderr } = await inlay(...args);
      expect(code, args.join(' ')).toBe(exitCodes[exit][0]);
      expect(stdout).toBe('');
      expect(stderr).not.toMatch(/\n\s+at /);
      return stderr;
    };
  const change = (statement: string, ...parameters: (string | number)[]) => {
    const file = new SqliteConnection(join(dataDir, 'inlay.db'));
    file.prepare(statement).run(parameters);
    file.close();
  };
  return { dataDir, inlay, succeed, fail: failWith('failure'), misuse: failWith('usage'), change };
}
const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

describe('inlay', () => {
  it('explains itself, each group of commands and each command', async () => {
    const { succeed } = commandLine();
    const { succeed: succeedAsProcess } = commandLine(undefined, { asProcess: true });
    const [help, version, group, command] = await Promise.all([
      succeedAsProcess('--help'),
      succeedAsProcess('--version'),
      succeed('operator-token', '--help'),
      succeed('operator-token', 'create', '--help'),
    ]);
    for (const name of [
      'start',
      'upgrade',
      'organization',
      'operator-token',
      'keys',
      'connector',
      'platform',
      'doctor',
    ]) {
      expect(help).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    }
    expect(help).toContain('Get started: inlay start');
    expect(version).toMatch(
      /^inlay \d+\.\d+\.\d+ \((commit [0-9a-f]{8,}(-dirty)?|built without git), Node \d+\.\d+\.\d+\)\n$/,
    );
    for (const verb of ['create', 'list', 'revoke', 'rotate']) expect(group).toMatch(new RegExp(`^  ${verb}\\b`, 'm'));
    for (const option of ['--name', '--permission', '--expires-in-days', '--organization']) {
      expect(command).toContain(option);
    }
  });

  it.each([
    [['nonsense'], "unknown command 'nonsense'"],
    [['organization', 'create'], "required option '--name <name>' not specified"],
    [['operator-token', 'revoke', 'x'], 'Must be a UUID.'],
    [['keys', 'remove'], "missing required argument 'key'"],
    [['workers', 'enrol', '--label', 'eu'], 'Must be key=value'],
  ])('%j says what is wrong', async (args, message) => {
    expect(await commandLine().misuse(...args)).toContain(message);
  });

  it('refuses a bad configuration with all its faults, and makes nothing', async () => {
    const dataDir = join(temporaryDirectory(), 'data');
    const env = { INLAY_DATA_DIR: dataDir, PORT: 'x', INLAY_OPERATOR_TOKEN: 'short', LOG_LEVEL: 'loud' };
    for (const args of [['start'], ['organization', 'list']]) {
      const { code, stdout, stderr } = await runCli(args, { env });
      expect(code).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toMatch(
        /^Invalid configuration \(3 problems\):\n {2}- PORT .*\n {2}- INLAY_OPERATOR_TOKEN .*\n {2}- LOG_LEVEL .*\n$/,
      );
    }
    expect(existsSync(dataDir)).toBe(false);
  });

  it('says what to do when the data directory cannot be made', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const message = await commandLine(join(file, 'data')).fail('migrate');
    expect(message).toMatch(new RegExp(`directory ${file}/data: ${file} is a file\\.\\n.*INLAY_DATA_DIR`));
  });

  it('says what to do when the database cannot be used', async () => {
    const { dataDir, fail } = commandLine();
    writeFileSync(join(dataDir, 'inlay.db'), 'this is no database, and long enough to be looked at as one'.repeat(20));
    const message = await fail('organization', 'list');
    expect(message).toMatch(/^Cannot use the database: .*\n.*INLAY_DATABASE_URL.*INLAY_DATA_DIR.*inlay doctor\n$/);
  });
});

describe('inlay start', () => {
  const start = async (dataDir: string, env = {}) => {
    const service = await startService({ dataDir, env });
    onTestFinished(() => service.kill());
    return service;
  };
  const list = (service: Service, token: string) =>
    fetch(`${service.url}/api/v1/workspaces`, { headers: { authorization: `Bearer ${token}` } });

  it('greets with the address, the organization and, on the first start only, the operator token', async () => {
    const dataDir = temporaryDirectory();
    const first = await start(dataDir);
    const address = `http://localhost:${first.port}`;
    expect(first.output()).toContain('Inlay is running.');
    expect(first.output()).toContain(`Address        ${address}\n`);
    expect(first.output()).toContain(`API reference  ${address}/docs\n`);
    expect(first.output()).toMatch(/Organization {3}[0-9a-f-]{36}\n/);
    const [token = '', ...more] = new Set(first.output().match(secret));
    expect(more).toEqual([]);
    expect(first.output()).toContain(`Operator token ${token}\n`);
    expect(first.output()).toContain(`curl -X POST ${address}/api/v1/embedded/scoped-token`);
    expect((await list(first, token)).status).toBe(200);
    const organization = /Organization {3}(\S+)/.exec(first.output())?.[1] ?? '';
    expect(await first.stop()).toBe(0);

    const second = await start(dataDir);
    expect(second.output()).toContain('Inlay is running.');
    expect(second.output()).toContain(organization);
    expect(second.output()).not.toMatch(secret);
    expect(second.output()).toContain('inlay operator-token create --name');
    expect((await list(second, token)).status).toBe(200);
    expect(await second.stop()).toBe(0);
  });

  it('never prints an operator token that came from the environment', async () => {
    const operatorToken = 'an-operator-token-of-the-environment-123';
    const service = await start(temporaryDirectory(), { INLAY_OPERATOR_TOKEN: operatorToken, LOG_LEVEL: 'trace' });
    expect((await list(service, operatorToken)).status).toBe(200);
    await service.stop();
    expect(service.output()).not.toContain(operatorToken);
    expect(service.output()).not.toMatch(secret);
  });

  it('says when the port is in use, and the operator token is not lost by it', async () => {
    const { dataDir } = commandLine();
    const occupant = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => occupant.once('listening', resolve));
    onTestFinished(() => {
      occupant.close();
    });
    const { port } = occupant.address() as { port: number };

    const env = { INLAY_DATA_DIR: dataDir, PORT: String(port) };
    const { code, stderr } = await runCli(['start'], { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^Port ${port} is in use\\..* PORT `));

    // Nobody has seen a token yet, so the start that succeeds is the first one.
    const service = await start(dataDir);
    const [token = ''] = service.output().match(secret) ?? [];
    expect((await list(service, token)).status).toBe(200);
    await service.stop();
  });
});

describe('inlay migrate', () => {
  it('says what it applied, and the next time that nothing was to do', async () => {
    const { succeed } = commandLine(undefined, { asProcess: true });
    const first = await succeed('migrate');
    expect(first).not.toBe('');
    expect(await succeed('migrate')).not.toBe(first);
  });
});

describe('inlay organization', () => {
  it('creates organizations, prints the token of each once, and lists them', async () => {
    const { dataDir, succeed, fail } = commandLine();
    const created = await commandLine(dataDir, { asProcess: true }).succeed('organization', 'create', '--name', 'Acme');
    expect(created).toMatch(/^Organization {3}[0-9a-f-]{36}\nOperator token inlay_op_\w{49}\n\nSave .*\n$/);
    const id = '7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20';
    const more = ['--id', id.toUpperCase(), '--platform-organization-id', 'theirs'];
    expect(await succeed('organization', 'create', '--name', 'Globex', ...more)).toContain(id);

    const [head, ...rows] = rowsOf(await succeed('organization', 'list'));
    expect(head).toEqual(['ID', 'NAME', 'PLATFORM ORGANIZATION', 'CREATED']);
    const today = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
    const acme = uuid.exec(created)?.[0];
    expect(rows).toEqual([
      [acme, 'Acme', acme, today],
      [id, 'Globex', 'theirs', today],
    ]);
    expect(await fail('organization', 'create', '--name', 'Again', '--id', id)).toBe(
      `Organization ${id} already exists.\n`,
    );
  });
});

describe('inlay operator-token', () => {
  const { dataDir, succeed, fail, change } = commandLine();
  const { succeed: succeedAsProcess } = commandLine(dataDir, { asProcess: true });
  let organization: string;
  beforeAll(async () => {
    organization = uuid.exec(await succeed('organization', 'create', '--name', 'Acme'))?.[0] ?? '';
  });
  const create = async (...args: string[]) => {
    const output = await succeed('operator-token', 'create', ...args);
    expect(output).toMatch(/^ID {13}[0-9a-f-]{36}\nOperator token inlay_op_\w{49}\n\nSave .*\n$/);
    return uuid.exec(output)?.[0] ?? '';
  };
  const rotate = async (...args: string[]) => {
    const output = await succeed('operator-token', 'rotate', ...args);
    expect(output).toMatch(/^ID {13}[0-9a-f-]{36}\nOperator token inlay_op_\w{49}\n\nSave .*\n/);
    return { id: uuid.exec(output)?.[0] ?? '', output };
  };

  it('creates, revokes and rotates, and lists all without their secrets', async () => {
    const [leaked, expired, old] = await Promise.all([
      create('--name', 'leaked'),
      create('--name', 'expired', '--permission', 'read', '--expires-in-days', '30'),
      create('--name', 'rotated', '--permission', 'read'),
    ]);
    expect(await succeed('operator-token', 'revoke', leaked.toUpperCase())).toBe(`Revoked leaked (${leaked}).\n`);
    change('update operator_tokens set expires_at = 1 where id = ? and expires_at > 1', expired);
    const second = await rotate(old);
    expect(second.output).toMatch(/old token .*revoked/);
    const third = await rotate(second.id, '--overlap-hours', '1.5');
    expect(third.output).toMatch(/old token .* 1\.5 h\./);
    expect(new Set([old, second.id, third.id]).size).toBe(3);
    for (const ended of [leaked, expired]) {
      expect(await fail('operator-token', 'rotate', ended)).toMatch(/expired .*: inlay operator-token create /);
    }

    const output = await succeedAsProcess('operator-token', 'list');
    expect(output).not.toMatch(secret);
    expect(output).not.toContain('90 days');
    const [head, ...rows] = rowsOf(output);
    expect(head).toEqual(['ID', 'NAME', 'PERMISSION', 'CREATED', 'LAST USED', 'STATE']);
    const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
    expect(Object.fromEntries(rows.map(([id, ...row]) => [id, row]))).toEqual({
      [rows[0]?.[0] ?? '']: ['first', 'full', day, '-', 'active'],
      [leaked]: ['leaked', 'full', day, '-', 'revoked'],
      [expired]: ['expired', 'read', day, '-', 'expired'],
      [old]: ['rotated', 'read', day, '-', 'revoked'],
      [second.id]: ['rotated', 'read', day, '-', expect.stringMatching(/^active until \d{4}-\d\d-\d\dT.*Z$/)],
      [third.id]: ['rotated', 'read', day, '-', 'active'],
    });
  });

  it('warns of tokens that work and are older than 90 days', async () => {
    change('update operator_tokens set created_at = created_at - 91 * 86400000');
    expect(await succeed('operator-token', 'list')).toMatch(
      /\n\n.* 90 days.*: first, rotated\n {2}inlay operator-token rotate <id> --overlap-hours 24\n$/,
    );
  });

  it('says when there is no such token', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect(await fail('operator-token', 'rotate', unknown)).toMatch(/not found.* inlay operator-token list\n$/);
  });

  it('asks which organization is meant when there are several, and none when there is none', async () => {
    const empty = commandLine();
    await empty.succeed('migrate');
    expect(await empty.fail('operator-token', 'list')).toMatch(/^No organizations.*: inlay start\n$/);
    const other = uuid.exec(await succeed('organization', 'create', '--name', 'Globex'))?.[0] ?? '';
    const message = await fail('operator-token', 'list');
    expect(message).toMatch(/several organizations.* --organization:\n/);
    expect(message).toContain(`  ${organization}  Acme\n`);
    expect(message).toContain(`  ${other}  Globex\n`);
    expect(rowsOf(await succeed('operator-token', 'list', '--organization', other)).map((row) => row[1])).toEqual([
      'NAME',
      'first',
    ]);
  });
});

describe('After a first start', () => {
  const { dataDir, succeed, fail } = commandLine();
  const { succeed: succeedAsProcess } = commandLine(dataDir, { asProcess: true });
  beforeAll(async () => {
    await (await startService({ dataDir })).stop();
  });

  it('inlay doctor finds all well', async () => {
    const report = await succeedAsProcess('doctor');
    expect(report).not.toMatch(/WARN|FAIL/);
    const expected = [
      'Database: SQLite, up to date',
      'Clock: in sync with the database',
      ': 1 active operator token',
      'No platform changes are pending',
      'Platform: bundled',
    ];
    for (const what of expected) expect(report).toMatch(new RegExp(`^  ok    .*${what}$`, 'm'));
    expect(report).not.toMatch(secret);
  });

  it('inlay keys lists, rotates and removes', async () => {
    const list = async () => {
      const [head, ...rows] = rowsOf(await succeed('keys', 'list'));
      expect(head).toEqual(['KEY', 'CREATED', 'STATE']);
      return Object.fromEntries(rows.map(([kid, , state]) => [kid, state]));
    };
    const [first = ''] = Object.keys(await list());
    const second = /Created key (\S+)\./.exec(await succeedAsProcess('keys', 'rotate'))?.[1] ?? '';
    expect(await list()).toEqual({ [second]: 'signs', [first]: expect.stringMatching(/^retired \d{4}-/) });
    expect(await fail('keys', 'remove', second)).toMatch(new RegExp(`^No .* ${second}\\. .*inlay keys list\\n$`));
    expect(await succeed('keys', 'remove', first)).toMatch(new RegExp(`^Removed ${first}\\.`));
    expect(await list()).toEqual({ [second]: 'signs' });
  });
});

describe('inlay doctor', () => {
  it('finds no problem before the first start, and changes nothing', async () => {
    const dataDir = join(temporaryDirectory(), 'data');
    const report = await commandLine(dataDir).succeed('doctor');
    expect(report).toMatch(new RegExp(`^ {2}ok {4}Data directory: ${dataDir} will be created`, 'm'));
    expect(report).toMatch(/^ {2}ok {4}Database: SQLite, will be created/m);
    expect(report).toContain('  ok    Platform: bundled\n');
    expect(report).toMatch(/\nAll checks passed\.\n$/);
    expect(existsSync(dataDir)).toBe(false);
  });

  it('warns, and ends with 0', async () => {
    const { dataDir, succeed, change } = commandLine();
    await succeed('organization', 'create', '--name', 'Acme');
    chmodSync(dataDir, 0o755);
    change('update operator_tokens set created_at = created_at - 91 * 86400000');
    const env = { INLAY_DATA_DIR: dataDir, INLAY_PUBLIC_URL: 'http://inlay.example' };
    const { code, stdout } = await runCommand(['doctor'], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^ {2}WARN {2}Data directory: .* ${dataDir}\\n {9}.*: chmod 700 ${dataDir}\\n`, 'm'),
    );
    expect(stdout).toMatch(/^ {2}WARN {2}Configuration: INLAY_PUBLIC_URL .*https\n/m);
    expect(stdout).toMatch(/\n\d warnings?\.\n$/);
    expect(stdout).toMatch(
      / {2}WARN {2}Organization Acme \(.*\): .* 90 days: first\n +Run: inlay operator-token rotate/,
    );
    change('update operator_tokens set revoked_at = 1');
    expect(await succeed('doctor')).toMatch(
      / {2}WARN {2}Organization Acme \(.*\): .*\n +Run: inlay operator-token create/,
    );
  });

  it('fails on a bad configuration, fault by fault', async () => {
    const { code, stdout } = await runCommand(['doctor'], { env: { PORT: 'x', LOG_LEVEL: 'loud' } });
    expect(code).toBe(exitCodes.findings[0]);
    expect(stdout).toMatch(
      /FAIL {2}Configuration: invalid\n +PORT .*\n {2}FAIL {2}Configuration: invalid\n +LOG_LEVEL /,
    );
    expect(stdout).toMatch(/\n2 failed\.\n$/);
  });

  it('fails on a file that is no database, and says so among its findings', async () => {
    const { dataDir, inlay } = commandLine();
    writeFileSync(join(dataDir, 'inlay.db'), 'this is no database, and long enough to be looked at as one'.repeat(20));
    const { code, stdout } = await inlay('doctor');
    expect(code).toBe(exitCodes.findings[0]);
    expect(stdout).toMatch(/ {2}FAIL {2}Database: .* SQLite \(.*\)\n +.* disk\.\n/);
    expect(stdout).toMatch(/\n1 failed\.\n$/);
  });

  it('fails on a data directory that is a file, and says so among its findings', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const { code, stdout } = await commandLine(file).inlay('doctor');
    expect(code).toBe(exitCodes.findings[0]);
    expect(stdout).toMatch(/ {2}FAIL {2}Data directory: /);
    expect(stdout).toMatch(/\d failed\.\n$/);
  });
});

it('enrols, lists, drains and revokes workers', async () => {
  const { inlay, succeed, fail } = commandLine();
  const enrolled = await inlay('workers', 'enrol', '--name', 'eu 1', '--label', 'region=eu', 'disk=ssd');
  const { stdout: token } = enrolled;
  expect(enrolled).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^inlay_enrolment_\S+\n$/),
    stderr: expect.stringMatching(/^Enrolled eu 1 \(.*\)\. The token works once, within one hour\.\n$/),
  });
  const [head, row] = rowsOf(await succeed('workers', 'list'));
  const id = uuid.exec(token)?.[0] ?? '';
  expect(head).toEqual(['ID', 'NAME', 'STATE', 'SLOTS', 'VERSION', 'SEEN', 'LABELS']);
  expect(row).toEqual([id, 'eu 1', 'waiting', '0/0', '-', '-', 'region=eu disk=ssd']);
  expect(await succeed('workers', 'drain', id)).toBe('eu 1 takes no more syncs and hands back those it runs.\n');
  expect(await succeed('workers', 'drain', id, '--resume')).toBe('eu 1 takes syncs again.\n');
  expect(await succeed('workers', 'revoke', id)).toBe(`Revoked ${id}. What it runs continues elsewhere.\n`);
  expect(await fail('workers', 'revoke', id)).toBe('Worker not found. See: inlay workers list\n');
});

describe('inlay connector', () => {
  const steered = fileURLToPath(new URL('../../platform/test/fixtures/steered-source.mjs', import.meta.url));

  it('adds a program, lists it, lets a running service use it, and removes it when nothing uses it', async () => {
    const { dataDir, succeed, fail } = commandLine(undefined, { asProcess: true });
    const platform = await startService({ command: 'platform', dataDir, env: platformCredentials });
    onTestFinished(() => platform.kill());
    const added = await succeed('connector', 'add', '--source', '--name', 'Mine', '--', process.execPath, steered);
    expect(added).toMatch(/^Added Mine \([0-9a-f-]{36}\), ready to use\.\n$/);
    const definitionId = uuid.exec(added)?.[0] ?? '';
    const [head, ...rows] = rowsOf(await succeed('connector', 'list'));
    expect(head).toEqual(['ID', 'KIND', 'NAME', 'RUNS']);
    expect(rows).toEqual([[definitionId, 'source', 'Mine', `${process.execPath} ${steered}`]]);

    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests
    const call = async (method: string, path: string, body?: object, token = ''): Promise<any> => {
      const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
      const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const text = await (await fetch(`${platform.url}/platform/v1${path}`, request)).text();
      return text === '' ? undefined : JSON.parse(text);
    };
    const { access_token: token } = await call('POST', '/applications/token', {
      client_id: platformCredentials.INLAY_PLATFORM_CLIENT_ID,
      client_secret: platformCredentials.INLAY_PLATFORM_CLIENT_SECRET,
    });
    const { workspaceId } = await call('POST', '/workspaces', { name: 'w' }, token);
    const source = { name: 'used', workspaceId, definitionId, configuration: { folder: dataDir } };
    const { sourceId } = await call('POST', '/sources', source, token);
    expect(await fail('connector', 'remove', definitionId)).toMatch(/ used by: used\.\n$/);
    await call('DELETE', `/sources/${sourceId}`, undefined, token);
    expect(await succeed('connector', 'remove', definitionId)).toBe(`Removed ${definitionId}.\n`);
    expect(await fail('connector', 'remove', definitionId)).toMatch(/not found.* inlay connector list\n$/);
    expect(await platform.stop()).toBe(0);
  });

  it('adds a program by a path from the folder it is to run in', async () => {
    const { dataDir, succeed, fail } = commandLine();
    const answer = JSON.stringify({ type: 'SPEC', spec: { connectionSpecification: { type: 'object' } } });
    writeFileSync(join(dataDir, 'spec.json'), answer);
    writeFileSync(join(dataDir, 'run.sh'), 'test -d "$HOME" && cat spec.json\n');
    const add = ['connector', 'add', '--source', '--name', 'Mine', '--directory', dataDir, '--'];
    expect(await succeed(...add, 'sh', './run.sh')).toMatch(/^Added Mine /);
    expect(await fail(...add, './run.sh')).toContain(`No executable program at ${join(dataDir, 'run.sh')}. `);
  });

  it('checks manifests, imports them once their licenses are accepted, and lists and removes them', async () => {
    const { dataDir, inlay, succeed, fail } = commandLine();
    await succeed('organization', 'create', '--name', 'Ours');
    const folder = join(dataDir, 'manifests');
    const whole = booksManifest({ url: 'https://api.example.com' });
    const partly = booksManifest({ url: 'https://api.example.com', more: codedStream('loans') });
    mkdirSync(join(folder, 'metadata/example/source-books/1.0.0'), { recursive: true });
    writeFileSync(join(folder, 'metadata/example/source-books/1.0.0/manifest.yaml'), whole);
    writeFileSync(join(folder, 'source-loans.yaml'), partly);
    const entry = (name: string, repository: string) => ({
      name,
      dockerRepository: `example/${repository}`,
      dockerImageTag: '1.0.0',
      language: 'manifest-only',
      license: 'MIT',
    });
    const sources = [
      entry('Books', 'source-books'),
      entry('Loans', 'source-loans'),
      { ...entry('Python', 'source-python'), language: 'python' },
    ];
    writeFileSync(join(folder, 'registry.json'), JSON.stringify({ sources, destinations: [] }));

    const asProcess = commandLine(dataDir, { asProcess: true });
    const checked = await asProcess.succeed('connector', 'check', join(folder, 'source-loans.yaml'));
    expect(checked).toContain('streams[1].retriever.requester.authenticator: CustomAuthenticator');
    expect(checked).toContain('1 of 2 streams');
    expect(await succeed('connector', 'check', folder)).toMatch(/^1 manifest: 0 .*, 1 partially, 0 not/m);

    const refused = await inlay('connector', 'import', folder);
    expect(refused.code).toBe(1);
    expect(rowsOf(refused.stdout)).toContainEqual(['loans', 'Loans', 'MIT']);
    expect(refused.stderr).toContain('--accept-license');
    expect(await fail('connector', 'import', folder, '--only', 'python', '--accept-license')).toBe(
      'Not found: python.\n',
    );
    const imported = await asProcess.succeed('connector', 'import', folder, '--accept-license');
    expect(imported).toMatch(/^2 added, 0 .*, 0 not/m);
    expect(await succeed('connector', 'import', folder, '--only', 'loans', '--accept-licence')).toMatch(
      /^0 added, 1 .*, 0 not/m,
    );
    const [, ...rows] = rowsOf(await succeed('connector', 'list'));
    expect(rows.map(([, ...row]) => row).sort()).toEqual([
      ['source', 'Books', 'manifest, version 1'],
      ['source', 'Loans', 'manifest, version 1'],
    ]);
    const id = rows[0]?.[0] ?? '';
    expect(await succeed('connector', 'remove', id)).toBe(`Removed ${id}.\n`);

    writeFileSync(join(folder, 'classes.mjs'), 'export class Auth { headers() { return {}; } }');
    const add = ['connector', 'add', '--source', '--manifest', join(folder, 'source-loans.yaml'), '--name', 'Coded'];
    expect(await succeed(...add, '--components', join(folder, 'classes.mjs'))).toMatch(/^Added Coded .*\n$/);
  });

  it('checks a folder with a line for each file, whatever is in the others', async () => {
    const { dataDir, succeed } = commandLine();
    const folder = join(dataDir, 'many');
    mkdirSync(folder);
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    write('source-a.yaml', booksManifest({ url: 'https://api.example.com' }));
    write('source-b.yaml', booksManifest({ url: 'https://api.example.com', more: codedStream('loans') }));
    write('source-c.yaml', 'a: [1');
    const doubled = Array.from({ length: 40 }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]`);
    write('source-d.yaml', `a0: &a0 [x]\n${doubled.join('\n')}\ntype: DeclarativeSource\nstreams: *a40\n`);
    write('source-e.yml', '#'.repeat(4 * 1024 ** 2 + 1));
    const lines = (await succeed('connector', 'check', folder)).split('\n');
    expect(lines[0]).toMatch(/^source-a\.yaml {2}1\/1$/);
    expect(lines[1]).toMatch(/^source-b\.yaml {2}1\/2 {2}loans: streams\[1\]\.retriever\.requester\.authenticator: /);
    expect(lines[2]).toMatch(/^source-c\.yaml {2}0\/0 {2}\S/);
    expect(lines[3]).toMatch(/^source-d\.yaml {2}0\/0 {2}.*too large/);
    expect(lines[4]).toMatch(/^source-e\.yml {3}0\/0 {2}.*larger than 4 MiB/);
    expect(lines.slice(5, 8)).toEqual([
      '',
      expect.stringMatching(/^5 manifests: 1 .*, 1 partially, 3 not/),
      '2 of 3 streams are supported.',
    ]);
    expect(lines.join()).not.toContain('[object');

    write('classes.mjs', 'export class Auth { headers() { return {}; } }');
    const withCode = await succeed('connector', 'check', folder, '--components', join(folder, 'classes.mjs'));
    expect(withCode.split('\n')[1]).toBe('source-b.yaml  2/2');
  });

  it('imports manifests from a registry at an address, and adds one from there', async () => {
    const { succeed, fail } = commandLine();
    await succeed('organization', 'create', '--name', 'Ours');
    const source = (name: string, more = {}) => ({
      name,
      dockerRepository: `example/source-${name.toLowerCase()}`,
      dockerImageTag: '2.1.0',
      language: 'manifest-only',
      license: 'ELv2',
      ...more,
    });
    const sources = [source('Books'), source('Gone'), source('Broken'), source('Old', { tombstone: true })];
    const at = (name: string) => `/files/metadata/example/source-${name}/2.1.0/manifest.yaml`;
    const files: Record<string, string> = {
      '/files/registries/v0/oss_registry.json': JSON.stringify({ sources, destinations: [] }),
      [at('books')]: booksManifest({ url: 'https://api.example.com' }),
      [at('broken')]: 'streams: [',
      '/page.html': '<html></html>',
      '/large.yaml': '#'.repeat(5 * 1024 ** 2),
    };
    const server = createHttpServer(({ url = '' }, response) => {
      response.writeHead(url === '/fails' ? 500 : url in files ? 200 : 404).end(files[url]);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const registry = `${address}/files/registries/v0/oss_registry.json`;

    const imported = await succeed('connector', 'import', registry, '--accept-license');
    expect(rowsOf(imported).slice(1, 4)).toEqual([
      ['books', 'Books', 'ELv2'],
      ['gone', 'Gone', 'ELv2'],
      ['broken', 'Broken', 'ELv2'],
    ]);
    expect(imported).toMatch(/^\+ Books \(.*\), 1 of 1 streams$/m);
    expect(imported).toContain('no manifest for');
    expect(imported).toMatch(/^! Broken: .* YAML/m);
    expect(imported).toMatch(/^1 added, 0 .*, 2 not/m);

    const add = ['connector', 'add', '--source', '--name', 'Again', '--manifest'];
    expect(await succeed(...add, `${address}${at('books')}`)).toMatch(/^Added Again /);
    expect(await fail(...add, `${address}/nowhere.yaml`)).toBe(`Not found: ${address}/nowhere.yaml\n`);
    expect(await fail(...add, `${address}/fails`)).toBe(`${address}/fails returned 500.\n`);
    expect(await fail(...add, `${address}/large.yaml`)).toBe(`${address}/large.yaml is larger than 4 MiB.\n`);
    expect(await fail(...add, 'http://127.0.0.1:1/x')).toMatch(/^Cannot read http:\/\/127\.0\.0\.1:1\/x: /);
    expect(await fail('connector', 'import', `${address}/page.html`)).toMatch(/\/page\.html is not .*: .* JSON\.\n$/);
  });

  it('says what is wrong with its arguments', async () => {
    const { fail, misuse } = commandLine();
    const named = ['connector', 'add', '--name', 'x'];
    const add = (...args: string[]) => misuse(...named, ...args);
    expect(await add('--', 'true')).toBe('Pass either --source or --destination.\n');
    expect(await add('--source', '--destination', '--', 'true')).toBe('Pass either --source or --destination.\n');
    const nothingToRun = 'Pass --manifest <file>, --image <image>, or a command after --.\n';
    expect(await add('--source')).toBe(nothingToRun);
    expect(await add('--source', '--image', 'a:1', '--', 'true')).toBe(nothingToRun);
    expect(await fail(...named, '--source', '--', 'true')).toMatch(/^The connector failed: /);
    expect(await fail(...named, '--source', '--image', '--network=host')).toContain('valid image name');
    expect(await misuse('connector', 'add', '--source', '--', 'true')).toBe('Pass a name with --name.\n');
    expect(await add('--manifest', 'books.yaml')).toMatch(/ --source\.\n$/);
    expect(await fail(...named, '--source', '--manifest', 'books.yaml')).toBe('Not found: books.yaml\n');
    const { code, stderr } = await runCommand(['connector', 'add', '--source', '--name', 'x', '--', 'true'], {
      env: { ...platformCredentials, INLAY_PLATFORM_URL: 'http://127.0.0.1:1/v1' },
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining('where that platform runs')]);
  });
});

describe('inlay platform', () => {
  const dataDir = temporaryDirectory();
  let platform: Service;
  let url: string;
  beforeAll(async () => {
    platform = await startService({ command: 'platform', dataDir, env: platformCredentials });
    url = `${platform.url}/platform/v1`;
  });
  const doctor = async (env: Record<string, string>) => {
    const directory = join(temporaryDirectory(), 'data');
    mkdirSync(directory, { mode: 0o700 });
    return await runCommand(['doctor'], { env: { INLAY_DATA_DIR: directory, ...platformCredentials, ...env } });
  };

  it('runs the bundled platform alone and says how to use it, without its secrets', async () => {
    expect(platform.output()).toContain('platform is running');
    expect(platform.output()).toContain(`INLAY_PLATFORM_URL            http://localhost:${platform.port}/platform/v1`);
    expect(platform.output()).not.toContain(platformCredentials.INLAY_PLATFORM_CLIENT_SECRET);
    expect((await fetch(`${url}/workspaces`)).status).toBe(401);
    expect((await fetch(`${platform.url}/api/v1/workspaces`)).status).toBe(404);
  });

  it('serves a service that has no platform of its own', async () => {
    const env = {
      ...platformCredentials,
      INLAY_PLATFORM_URL: url,
      INLAY_OPERATOR_TOKEN: 'an-operator-token-of-the-cli-tests',
    };
    const service = await startService({ dataDir: temporaryDirectory(), env });
    onTestFinished(() => service.kill());
    const response = await fetch(`${service.url}/api/v1/embedded/scoped-token`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.INLAY_OPERATOR_TOKEN}`, 'content-type': 'application/json' },
      body: '{"workspace_name":"over there"}',
    });
    expect(response.status).toBe(200);
    expect((await fetch(`${service.url}/platform/v1/workspaces`)).status).toBe(404);
    await service.stop();
  });

  it('doctor: the platform answers and takes the credentials', async () => {
    const { code, stdout } = await doctor({ INLAY_PLATFORM_URL: url });
    expect(stdout).toContain(`  ok    Platform: ${url} responds`);
    expect(stdout).toContain('  ok    Clock: ');
    expect(stdout).toMatch(/^ {2}ok {4}Platform: .*\(with the name filter\)\n/m);
    expect(stdout).toMatch(/ {2}ok {4}Platform: the credentials can access \d organizations?\n/);
    expect(code).toBe(0);
  });

  it('doctor: wrong credentials and an unreachable platform fail, each with its advice', async () => {
    const wrong = await doctor({ INLAY_PLATFORM_URL: url, INLAY_PLATFORM_CLIENT_SECRET: 'wrong' });
    expect(wrong.code).toBe(exitCodes.findings[0]);
    expect(wrong.stdout).toMatch(
      / {2}FAIL {2}Platform: .*\n +Check INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET\.\n/,
    );
    const away = await doctor({ INLAY_PLATFORM_URL: 'http://127.0.0.1:1/v1' });
    expect(away.code).toBe(exitCodes.findings[0]);
    expect(away.stdout).toMatch(/ {2}FAIL {2}Platform: .*\n +Check INLAY_PLATFORM_URL .*\/v1/);
  });

  it('ends with 0 on request', async () => {
    expect(await platform.stop()).toBe(0);
  });
});
