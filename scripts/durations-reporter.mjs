// Records how long each test file took, with everything it waited for: loading, set-up, tests and cleaning up. The
// JSON report of Vitest counts the tests alone. The file is named by INLAY_TEST_DURATIONS.

import { writeFileSync } from 'node:fs';

export default class DurationsReporter {
  /** @type {{ name: string, seconds: number }[]} */
  #files = [];

  /** @param {import('vitest/node').TestModule} file */
  onTestModuleEnd(file) {
    const { collectDuration, duration } = file.diagnostic();
    this.#files.push({ name: file.relativeModuleId, seconds: (collectDuration + duration) / 1000 });
  }

  onTestRunEnd() {
    const file = process.env.INLAY_TEST_DURATIONS;
    if (file) writeFileSync(file, JSON.stringify(this.#files));
  }
}
