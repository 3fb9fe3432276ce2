import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  bundled,
  configured,
  isAlive,
  memoryLog,
  scriptedSource,
  sync,
  temporaryFolder,
  testRunner,
} from '../../test/connectors.ts';
import type { Failure, RunFailure } from './runner.ts';

const spec = { connectionSpecification: { type: 'object', properties: {} } };
const catalog = { streams: [{ name: 'items', json_schema: {}, supported_sync_modes: ['full_refresh'] }] };
const isFine = { say: { type: 'CONNECTION_STATUS', connectionStatus: { status: 'SUCCEEDED' } } };
const isBad = { say: { type: 'CONNECTION_STATUS', connectionStatus: { status: 'FAILED', message: 'No such host.' } } };
const error = (message: string, failure_type: string) => ({
  say: { type: 'TRACE', trace: { type: 'ERROR', emitted_at: 1, error: { message, failure_type } } },
});

async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  return promise.then(
    () => expect.unreachable('it did not fail'),
    (error: RunFailure) => error.failure,
  );
}

describe('a question', () => {
  test('is answered by one message, whatever else is said around it', async () => {
    const { log, jobLog } = memoryLog();
    const source = scriptedSource([
      { print: 'starting up\n' },
      { complain: 'a warning on standard error\n' },
      { say: { type: 'LOG', log: { level: 'DEBUG', message: 'thinking' } } },
      { say: { type: 'FORTUNE', fortune: 'unknown types are tolerated' } },
      { print: '{"not":"a message"}\n' },
      { say: { type: 'SPEC', spec, added: 'unknown properties too' } },
    ]);
    await expect(testRunner().readSpecification(source, { log: jobLog })).resolves.toEqual(spec);
    expect(log).toContainEqual({ level: 'INFO', origin: 'source', message: 'starting up' });
    expect(log).toContainEqual({ level: 'INFO', origin: 'source', message: 'a warning on standard error' });
    expect(log).toContainEqual({ level: 'DEBUG', origin: 'source', message: 'thinking' });
  });

  test('is answered even when the last line lacks its newline', async () => {
    const source = scriptedSource([{ print: JSON.stringify({ type: 'SPEC', spec }) }]);
    await expect(testRunner().readSpecification(source)).resolves.toEqual(spec);
  });

  test.each([
    ['no answer', [], 'returned no result'],
    ['two answers', [{ say: { type: 'SPEC', spec } }, { say: { type: 'SPEC', spec } }], 'returned 2 results'],
    ['a specification without a schema', [{ say: { type: 'SPEC', spec: {} } }], 'no connectionSpecification'],
  ])('fails with %s', async (_, steps, words) => {
    const failure = await failureOf(testRunner().readSpecification(scriptedSource(steps)));
    expect(failure).toMatchObject({ origin: 'source', type: 'system_error', message: expect.stringContaining(words) });
  });

  test('fails with what the connector says is wrong', async () => {
    const source = scriptedSource([error('The server is busy.', 'transient_error'), { exit: 1 }]);
    const failure = await failureOf(testRunner().discover(source));
    expect(failure).toEqual({ origin: 'source', type: 'transient_error', message: 'The server is busy.' });
  });

  test('fails with the exit code and the last log line when the connector gives no reason', async () => {
    const failure = await failureOf(testRunner().discover(scriptedSource([{ complain: 'segfault\n' }, { exit: 3 }])));
    expect(failure.type).toBe('system_error');
    expect(failure.message).toContain('exited with code 3');
    expect(failure.internalMessage).toContain('segfault');
  });

  test('fails with the signal when the connector was killed', async () => {
    const failure = await failureOf(testRunner().discover(scriptedSource([{ kill: 'SIGKILL' }])));
    expect(failure.message).toContain('SIGKILL');
  });

  test('fails when the program does not exist', async () => {
    const source = { ...scriptedSource([]), program: '/no/such/program' };
    const failure = await failureOf(testRunner().discover(source));
    expect(failure).toMatchObject({ type: 'system_error', message: expect.stringContaining('not start') });
    expect(failure.internalMessage).toContain('ENOENT');
  });

  test('fails when a line has no end', async () => {
    const runner = testRunner({ maxLineBytes: 1_000_000 });
    const failure = await failureOf(runner.discover(scriptedSource([{ bigState: 1_100_000 }, { hang: true }])));
    expect(failure).toMatchObject({ type: 'system_error', message: expect.stringMatching(/ 1 MB\.$/) });
  });

  test('is given up after its time, and the connector is gone with all that it started', async () => {
    const [note, child] = ['note', 'child'].map((name) => join(temporaryFolder(), name)) as [string, string];
    const source = scriptedSource([{ ignoreSigterm: true }, { breed: child }, { note }, { hang: true }]);
    const failure = await failureOf(testRunner({ discoverTimeoutMs: 5000, graceMs: 200 }).discover(source));
    expect(failure).toMatchObject({ type: 'transient_error', message: expect.stringContaining('did not respond') });
    expect(isAlive(JSON.parse(readFileSync(note, 'utf8')).pid)).toBe(false);
    expect(isAlive(Number(readFileSync(child, 'utf8')))).toBe(false);
  });

  test('leaves no grandchild behind when the connector ends automatically', async () => {
    const child = join(temporaryFolder(), 'child');
    await testRunner().discover(scriptedSource([{ breed: child }, { say: { type: 'CATALOG', catalog } }, { exit: 0 }]));
    // It is killed by then; the process that reaps the orphan is not ours and may be slightly later.
    await expect.poll(() => isAlive(Number(readFileSync(child, 'utf8')))).toBe(false);
  });

  test.each([
    ['was killed', [{ ignoreSigterm: true }, { hang: true }], true],
    ['ended by itself', [], false],
  ])('removes what outlives a process that %s, such as a container', async (_, steps, isRemoved) => {
    const note = join(temporaryFolder(), 'note');
    const script = `require('node:fs').writeFileSync(${JSON.stringify(note)}, process.argv[1])`;
    const source = { ...scriptedSource(steps), removalArgs: (filesDir: string) => ['-e', script, filesDir] };
    await failureOf(testRunner({ discoverTimeoutMs: 5000, graceMs: 200 }).discover(source));
    expect(existsSync(note)).toBe(isRemoved);
  });

  test('can be cancelled', async () => {
    const note = join(temporaryFolder(), 'note');
    const abort = new AbortController();
    const { jobLog } = memoryLog();
    const log = { ...jobLog, write: () => abort.abort(new Error('enough')) };
    const source = scriptedSource([{ note }, { complain: 'ready\n' }, { hang: true }]);
    await expect(testRunner().discover(source, { signal: abort.signal, log })).rejects.toThrow('enough');
    expect(isAlive(JSON.parse(readFileSync(note, 'utf8')).pid)).toBe(false);
    await expect(testRunner().discover(source, { signal: abort.signal })).rejects.toThrow('enough');
  });
});

describe('what a connector is given', () => {
  test('is its configuration in a file, its own environment, and nothing else', async () => {
    const note = join(temporaryFolder(), 'note');
    const runner = testRunner();
    const source = { ...scriptedSource([{ note }, isFine], { host: 'h' }), env: { COLOUR: 'blue' } };
    await expect(runner.check(source)).resolves.toEqual({ status: 'succeeded' });
    const noted = JSON.parse(readFileSync(note, 'utf8'));
    expect(noted).toMatchObject({ command: 'check', given: { config: { host: 'h' } }, env: { COLOUR: 'blue' } });
    // A mark, and what a shell adds.
    const more = ['INLAY_RUN', 'PWD', 'OLDPWD', 'SHLVL', '_'];
    expect(Object.keys(noted.env).filter((name) => !more.includes(name))).toEqual(['COLOUR']);
    expect(readdirSync(runner.folder)).toEqual([]);
  });

  test('can be read by this user alone while it runs, and is removed when it fails', async () => {
    const runner = testRunner();
    const modes: number[] = [];
    const log = {
      write() {
        const [run = ''] = readdirSync(runner.folder);
        const paths = [runner.folder, join(runner.folder, run), join(runner.folder, run, 'config.json')];
        modes.push(...paths.map((path) => statSync(path).mode & 0o777));
      },
    };
    await failureOf(runner.discover(scriptedSource([{ complain: 'look now\n' }, { exit: 1 }], { a: 1 }), { log }));
    expect(modes).toEqual([0o700, 0o700, 0o600]);
    expect(readdirSync(runner.folder)).toEqual([]);
  });

  test('is found from the folder that it is to run in', async () => {
    const [note, workingDir] = [join(temporaryFolder(), 'note'), temporaryFolder()];
    const source = scriptedSource([{ note }, isFine], { host: 'h' });
    await expect(testRunner().check({ ...source, workingDir })).resolves.toEqual({ status: 'succeeded' });
    expect(JSON.parse(readFileSync(note, 'utf8'))).toMatchObject({ given: { config: { host: 'h' } }, cwd: workingDir });

    const failure = await failureOf(testRunner().discover({ ...source, workingDir: '/no/such/folder' }));
    expect(failure.message).toContain('not start');
    expect(failure.internalMessage).toContain('/no/such/folder');
  });

  test('is never on disk for a bundled connector', async () => {
    const runner = testRunner();
    const seen: string[][] = [];
    const { status } = await sync(runner, {
      source: bundled('source', 'sample-data', { count: 10 }),
      destination: bundled('destination', 'local-files', { path: 'out' }, temporaryFolder()),
      streams: [configured('users')],
      keepState: async () => void seen.push(readdirSync(runner.folder)),
    });
    expect([status, seen]).toEqual(['succeeded', [[]]]);
  });

  test('and was left behind by a killed service is removed by the next one', async () => {
    const { folder } = testRunner();
    const abort = new AbortController();
    const first = testRunner({ folder });
    const log = {
      write() {
        expect(readdirSync(folder)).toHaveLength(1);
        testRunner({ folder });
        expect(readdirSync(folder)).toHaveLength(0);
        abort.abort(new Error('seen'));
      },
    };
    const source = scriptedSource([{ complain: 'ready\n' }, { hang: true }], { password: 'p' });
    await expect(first.discover(source, { log, signal: abort.signal })).rejects.toThrow('seen');
  });
});

describe('a check', () => {
  test('that fails is an answer', async () => {
    const failed = { status: 'failed', message: 'No such host.' };
    await expect(testRunner().check(scriptedSource([isBad]))).resolves.toEqual(failed);
    await expect(testRunner().check(scriptedSource([isBad, { exit: 1 }]))).resolves.toEqual(failed);
  });

  test('fails as well when the connector reports its configuration only as an error', async () => {
    const source = scriptedSource([error('The key is unknown.', 'config_error'), { exit: 1 }]);
    await expect(testRunner().check(source)).resolves.toEqual({ status: 'failed', message: 'The key is unknown.' });
  });

  test('keeps a configuration that the connector has renewed meanwhile', async () => {
    const config = { token: 'renewed' };
    const control = { type: 'CONNECTOR_CONFIG', emitted_at: 1, connectorConfig: { config } };
    const kept: unknown[] = [];
    const keepConfiguration = async (...given: unknown[]) => void kept.push(given);
    await testRunner().check(scriptedSource([{ say: { type: 'CONTROL', control } }, isFine]), { keepConfiguration });
    expect(kept).toEqual([['source', config]]);
  });

  test('that breaks is a failure of the connector', async () => {
    const failure = await failureOf(testRunner().check(scriptedSource([isFine, { exit: 1 }])));
    expect(failure.type).toBe('system_error');
  });

  test('never shows a secret, in an answer, a failure or the log', async () => {
    const { log, jobLog } = memoryLog();
    const secret = 'hunter2"quoted';
    const loud = { complain: `password=${secret} ${JSON.stringify(secret)} ?p=${encodeURIComponent(secret)}\n` };
    const answer = { say: { type: 'CONNECTION_STATUS', connectionStatus: { status: 'FAILED', message: secret } } };
    const outcome = await testRunner().check(scriptedSource([loud, answer], { secret }, [secret]), { log: jobLog });
    const failing = scriptedSource([loud, error(`Bad ${secret}`, 'system_error'), { exit: 1 }], { secret }, [secret]);
    const failure = await failureOf(testRunner().discover(failing, { log: jobLog }));
    expect(log.length).toBeGreaterThan(2);
    expect(JSON.stringify([outcome, failure, log])).not.toContain('hunter2');
  });
});
