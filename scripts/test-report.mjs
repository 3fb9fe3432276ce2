// Judges a finished test run. A green exit code alone is not enough: it does not show that a suite was skipped or never
// ran on PostgreSQL.

/**
 * @typedef {{ fullName: string, status: string }} Test
 * @typedef {{ name: string, status: string, message?: string, assertionResults: Test[] }} TestFile
 * @param {number | string | null} exit code or signal of the test runner
 * @param {{ testResults: TestFile[] } | undefined} report its JSON report
 * @returns {{ passed: number, failed: number, checks: { name: string, complaint: string | undefined }[] }}
 */
export function summarize(exit, report) {
  const files = report?.testResults ?? [];
  const tests = files.flatMap((file) => file.assertionResults);
  const passed = tests.filter((test) => test.status === 'passed');
  const failed = tests.filter((test) => test.status === 'failed');
  const notRun = tests.filter((test) => test.status !== 'passed' && test.status !== 'failed');
  const onPostgres = passed.filter((test) => test.fullName.includes('[postgres]'));
  // A file that could not be loaded, or whose set-up failed, has no failed test of its own.
  const broken = files.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );

  return {
    passed: passed.length,
    failed: failed.length + broken.length,
    checks: [
      {
        name: 'the test run ended cleanly',
        complaint:
          report && (exit === 0 || failed.length + broken.length > 0)
            ? undefined
            : `The test runner exited with ${exit}${report ? ' although no test failed' : ' and left no report'}.`,
      },
      {
        name: 'no test was skipped',
        complaint:
          notRun.length === 0
            ? undefined
            : `These tests did not run:\n${notRun.map((test) => `  ${test.fullName}`).join('\n')}`,
      },
      {
        name: `tests ran on PostgreSQL (${onPostgres.length})`,
        complaint: onPostgres.length > 0 ? undefined : 'No test with [postgres] in its name ran and passed.',
      },
    ],
  };
}
