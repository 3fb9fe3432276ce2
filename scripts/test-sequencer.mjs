// The slowest test files come first, so that all workers are busy to the end. `npm run check` prints the ten slowest;
// the order here need not be exact.

import { relative, sep } from 'node:path';
import { BaseSequencer } from 'vitest/node';

/** From the slowest. */
export const slowFiles = [
  'bench/smoke.test.ts',
  'server/test/faults/source-kill-points.test.ts',
  'server/test/faults/kill-commits.test.ts',
  'server/test/journey.test.ts',
  'widget/test/journey.test.ts',
  'server/test/simulation/simulation.test.ts',
  'server/test/faults/kill-points.test.ts',
  'server/test/faults/killed-syncs.test.ts',
  'server/test/source-races.test.ts',
  'server/test/faults/replicas.test.ts',
  'server/test/cli.test.ts',
  'widget/test/embedding.test.ts',
  'platform/src/runner/data-promises.test.ts',
  'server/test/races.test.ts',
  'server/test/faults/outage.test.ts',
  'server/test/faults/store-faults.test.ts',
  'widget/test/screens.test.ts',
  'server/test/crash.test.ts',
  'server/test/security/transport.test.ts',
  'server/test/security/store-down.test.ts',
  'server/test/security/logs.test.ts',
  'platform/src/runner/sync.test.ts',
  'scripts/demo.test.ts',
];

export default class SlowestFirst extends BaseSequencer {
  /** @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    const sorted = await super.sort(files);
    const rank = (/** @type {import('vitest/node').TestSpecification} */ { moduleId }) => {
      const at = slowFiles.indexOf(relative(this.ctx.config.root, moduleId).split(sep).join('/'));
      return at < 0 ? slowFiles.length : at;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
