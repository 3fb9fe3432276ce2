// The slowest test files come first, so that all workers are busy to the end. `npm run check` prints the ten slowest;
// the order here need not be exact. Each project's files come in one row: a worker whose next file is of another project
// ends, and a new worker would have to load the service again.

import { relative, sep } from 'node:path';
import { BaseSequencer } from 'vitest/node';

/** The slowest first. */
export const slowFiles = [
  'server/test/simulation/simulation.test.ts',
  'server/test/faults/source-kill-points.test.ts',
  'platform/src/runner/data-promises.test.ts',
  'server/test/faults/platform-faults.test.ts',
  'server/test/faults/kill-commits.test.ts',
  'server/src/definitions/own-definitions.test.ts',
  'server/test/cli.test.ts',
  'server/test/faults/kill-points.test.ts',
  'server/test/faults/store-faults.test.ts',
  'server/test/faults/replicas.test.ts',
  'server/src/pipelines/hosted.test.ts',
  'server/test/faults/rollouts.test.ts',
  'widget/test/journey.test.ts',
  'server/src/reference/document.test.ts',
  'server/test/security/connector-secrets.test.ts',
  'server/test/generated-clients.test.ts',
  'platform/src/jobs/scheduler.test.ts',
  'widget/test/form.test.ts',
  'widget/test/screens.test.ts',
  'platform/connectors/s3/connector.test.ts',
  'server/src/pipelines/set-up.test.ts',
  'platform/test/inferred-schemas.test.ts',
  'server/test/faults/traps.test.ts',
  'widget/test/embedding.test.ts',
  'platform/connectors/destination-postgres/faults.test.ts',
  'platform/src/runner/sync.test.ts',
  'platform/torture/faults.test.ts',
  'platform/torture/matrix.test.ts',
  'platform/torture/kit.test.ts',
  'platform/src/jobs/jobs.test.ts',
  'server/src/workspaces/operations.test.ts',
  'server/test/source-races.test.ts',
  'server/test/faults/killed-syncs.test.ts',
  'server/test/faults/killed-job-watch.test.ts',
  'server/test/faults/killed-deliveries.test.ts',
  'server/test/faults/killed-keyed-requests.test.ts',
  'server/test/faults/connection-kill-points.test.ts',
  'server/test/faults/outage.test.ts',
  'server/test/crash.test.ts',
  'server/test/races.test.ts',
  'server/test/security/ssrf.test.ts',
  'server/test/security/input.test.ts',
  'server/test/security/store-down.test.ts',
  'widget/test/health.test.ts',
  'bench/smoke.test.ts',
  'scripts/demo.test.ts',
  'server/test/security/transport.test.ts',
  'server/test/journey.test.ts',
];

export default class SlowestFirst extends BaseSequencer {
  /** @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    const sorted = await super.sort(files);
    const rank = (/** @type {import('vitest/node').TestSpecification} */ { moduleId }) => {
      const at = slowFiles.indexOf(relative(this.ctx.config.root, moduleId).split(sep).join('/'));
      return at < 0 ? slowFiles.length : at;
    };
    const isPart = (/** @type {import('vitest/node').TestSpecification} */ { project }) =>
      Number(project.name === 'parts');
    return sorted.toSorted((a, b) => isPart(a) - isPart(b) || rank(a) - rank(b));
  }
}
