import { describe, expect, test } from 'vitest';
import {
  bundled,
  configured,
  memoryLog,
  scriptedSource,
  sync,
  temporaryFolder,
  testRunner,
} from '../../test/connectors.ts';
import type { RunFailure } from '../runner/runner.ts';

const megabyte = 1024 ** 2;
const isFine = { say: { type: 'CONNECTION_STATUS', connectionStatus: { status: 'SUCCEEDED' } } };
const failed = (internal_message: string) => ({
  say: {
    type: 'TRACE',
    trace: { type: 'ERROR', emitted_at: 1, error: { message: 'Something went wrong.', internal_message } },
  },
});

/** What a check of the source fails with, and what the operator can read in the log. */
async function failureOf(steps: object[], limits: { memoryBytes?: number; openFiles?: number }) {
  const { log, jobLog } = memoryLog();
  const failure = await testRunner({ limits })
    .check(scriptedSource(steps), { log: jobLog })
    .then(
      () => expect.unreachable('it did not fail'),
      (error: RunFailure) => error.failure,
    );
  return { failure, log: log.map(({ message }) => message).join('\n') };
}

describe('a connector', () => {
  const tooMuch = 'The source was stopped because it needed more than 300 MB of memory.';
  const memorySetting = 'The limit is 300 MB per connector run. To change it, set INLAY_CONNECTOR_MEMORY_MB.';

  test.each([
    ['wants more memory than it may use', [{ eat: { bytes: 400 * megabyte } }, isFine]],
    [
      'uses more together with what it has started than it may',
      [{ eat: { bytes: 150 * megabyte, processes: 2 } }, { hang: true }],
    ],
    [
      'knows only that it has failed, for lack of memory',
      [failed('RangeError: Array buffer allocation failed'), { exit: 1 }],
    ],
  ])('that %s fails, and the message names the limit', async (_, steps) => {
    const { failure, log } = await failureOf(steps, { memoryBytes: 300 * megabyte });
    expect(failure).toMatchObject({ origin: 'source', type: 'system_error', message: tooMuch });
    expect(log).toContain(memorySetting);
    // Customers see the message.
    expect(failure.message).not.toContain('INLAY');
  });

  test('that uses less is left alone', async () => {
    const steps = [{ eat: { bytes: 150 * megabyte } }, isFine];
    const checked = testRunner({ limits: { memoryBytes: 300 * megabyte } }).check(scriptedSource(steps));
    await expect(checked).resolves.toEqual({ status: 'succeeded' });
  });

  test('that opens more files than it may fails, and the message names the limit', async () => {
    const { failure, log } = await failureOf([{ openFiles: 200 }, isFine], { openFiles: 100 });
    expect(failure.message).toMatch(/ 100 files\.$/);
    expect(log).toContain('INLAY_CONNECTOR_OPEN_FILES');
  });

  test('that explains its failure itself is believed', async () => {
    const error = { message: 'The server has no memory: ENOMEM.', failure_type: 'transient_error' };
    const steps = [{ say: { type: 'TRACE', trace: { type: 'ERROR', emitted_at: 1, error } } }, { exit: 1 }];
    const { failure } = await failureOf(steps, {});
    expect(failure.message).toMatch(/: ENOMEM\.$/);
  });

  test('that is bundled syncs within a fraction of what it may use', async () => {
    const outcome = await sync(testRunner({ limits: { memoryBytes: 256 * megabyte } }), {
      source: bundled('source', 'sample-data', { count: 20_000 }),
      destination: bundled('destination', 'local-files', { path: 'out' }, temporaryFolder()),
      streams: [configured('users')],
    });
    expect(outcome).toMatchObject({ status: 'succeeded', records: 20_000 });
  });
});

test('a container that its engine has killed needed too much memory', async () => {
  const { jobLog } = memoryLog();
  const source = { ...scriptedSource([{ exit: 137 }]), removalArgs: () => ['-e', ''] };
  await expect(testRunner().check(source, { log: jobLog })).rejects.toMatchObject({
    failure: { message: expect.stringContaining('1 GB of memory') },
  });
});
