import { describe, expect, it } from 'vitest';
import { summarize } from './test-report.mjs';

const test = (fullName: string, status = 'passed') => ({ fullName, status });
const file = (status: string, ...assertionResults: ReturnType<typeof test>[]) => ({
  name: 'a.test.ts',
  status,
  assertionResults,
});
const onPostgres = test('Notes [postgres] are kept');
const complaints = (summary: ReturnType<typeof summarize>) =>
  summary.checks.map(({ complaint }) => complaint).filter(Boolean);

describe('The summary of a test run', () => {
  it('has no complaint when everything ran and passed', () => {
    const summary = summarize(0, { testResults: [file('passed', test('Notes [sqlite] are kept'), onPostgres)] });
    expect(summary).toMatchObject({ passed: 2, failed: 0 });
    expect(complaints(summary)).toEqual([]);
  });

  it('counts failed tests, without a second complaint about the exit code', () => {
    const summary = summarize(1, { testResults: [file('failed', onPostgres, test('broken', 'failed'))] });
    expect(summary).toMatchObject({ passed: 1, failed: 1 });
    expect(complaints(summary)).toEqual([]);
  });

  it('counts a file that could not be loaded as one failure', () => {
    const summary = summarize(1, { testResults: [file('passed', onPostgres), file('failed')] });
    expect(summary).toMatchObject({ passed: 1, failed: 1 });
  });

  it.each(['skipped', 'pending', 'todo'])('complains about a test that is %s', (status) => {
    const summary = summarize(0, { testResults: [file('passed', onPostgres, test('later', status))] });
    expect(complaints(summary)).toEqual([expect.stringMatching(/ not run:\n {2}later$/)]);
  });

  it('complains when nothing passed on PostgreSQL', () => {
    const failedOnly = [test('Notes [sqlite] are kept'), test('Notes [postgres] are kept', 'failed')];
    const summary = summarize(1, { testResults: [file('failed', ...failedOnly)] });
    expect(complaints(summary)).toEqual([expect.stringContaining('[postgres]')]);
  });

  it('complains about a run that failed although no test did', () => {
    const summary = summarize(1, { testResults: [file('passed', onPostgres)] });
    expect(complaints(summary)).toEqual([expect.stringMatching(/ exited with 1 /)]);
  });

  it('complains about a run without a report', () => {
    expect(complaints(summarize('SIGKILL', undefined))[0]).toMatch(/SIGKILL .*no report/);
  });
});
