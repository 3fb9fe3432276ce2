/** Programs that a connector starts in their own session: they count towards its memory and end with it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isAlive, memoryLog, scriptedSource, temporaryFolder, testRunner } from '../../test/connectors.ts';
import { until } from '../../test/steered.ts';
import { findUsableCgroup, listRunCgroups } from '../processes/cgroups.ts';
import { systemRuntime } from '../runtime.ts';
import type { RunFailure } from './runner.ts';

const megabyte = 1024 ** 2;
const isFine = { say: { type: 'CONNECTION_STATUS', connectionStatus: { status: 'SUCCEEDED' } } };
/** Without waiting for what it has started. */
const leaves = { exit: 0 };
const mark = systemRuntime.newId();
/** If this machine has no usable control group, both are the same. */
const ways = { 'by its tree of processes': undefined, 'by its control group': findUsableCgroup(mark) };

const pidIn = (file: string) => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);

function pidFile(): { file: string; isGone(): boolean } {
  const file = join(temporaryFolder(), 'pid');
  onTestFinished(() => {
    if (isAlive(pidIn(file))) process.kill(pidIn(file), 'SIGKILL');
  });
  return { file, isGone: () => pidIn(file) > 0 && !isAlive(pidIn(file)) };
}

describe.each(Object.entries(ways))('a run followed %s', (_, cgroup) => {
  const runner = (options = {}) => testRunner({ mark, cgroup, graceMs: 200, ...options });

  test.each(['breedAway', 'breedOrphan', 'breedWithPipes'])('ends with what it started: %s', async (breed) => {
    const { file, isGone } = pidFile();
    const checked = runner().check(scriptedSource([{ [breed]: file }, { waitFor: file }, isFine, leaves]));
    await expect(checked).resolves.toEqual({ status: 'succeeded' });
    expect(isGone()).toBe(true);
    if (cgroup !== undefined) expect(listRunCgroups(cgroup, mark)).toEqual([]);
  });

  test('that takes too long ends with what it started', async () => {
    const { file, isGone } = pidFile();
    const steps = [{ ignoreSigterm: true }, { breedOrphan: file }, { hang: true }];
    await expect(runner({ checkTimeoutMs: 2_000 }).check(scriptedSource(steps))).rejects.toThrow('did not respond');
    expect(isGone()).toBe(true);
  });

  test('that is cancelled ends with what it started', async () => {
    const { file, isGone } = pidFile();
    const stopping = new AbortController();
    const steps = [{ breedOrphan: file }, { hang: true }];
    const discovered = runner().discover(scriptedSource(steps), { signal: stopping.signal });
    const failed = expect(discovered).rejects.toThrow();
    await until(() => pidIn(file) > 0);
    stopping.abort();
    await failed;
    expect(isGone()).toBe(true);
  });

  test('is stopped when it uses too much memory together with what it started, and takes that along', async () => {
    const { file, isGone } = pidFile();
    const { log, jobLog } = memoryLog();
    const steps = [{ eatAway: { bytes: 350 * megabyte, file } }, { hang: true }];
    const checked = runner({ limits: { memoryBytes: 300 * megabyte } }).check(scriptedSource(steps), { log: jobLog });
    const error: RunFailure = await checked.then(
      () => expect.unreachable('it did not fail'),
      (caught) => caught,
    );
    expect(error.failure.message).toContain('300 MB of memory');
    expect(log.map(({ message }) => message).join('\n')).toContain('INLAY_CONNECTOR_MEMORY_MB');
    expect(isGone()).toBe(true);
  });
});

test('nobody leaves a control group by clearing the environment', async () => {
  const { file, isGone } = pidFile();
  const cgroup = ways['by its control group'];
  // Without a control group, the parent has to be there at the next look.
  const linger = cgroup === undefined ? [{ pause: 1_500 }] : [];
  const steps = [{ breedBare: file }, { waitFor: file }, ...linger, isFine, leaves];
  await testRunner({ mark, cgroup }).check(scriptedSource(steps));
  expect(isGone()).toBe(true);
});
