// The slowest test files come first, so that all workers are busy to the end. `npm run check` prints the ten slowest;
// the order here need not be exact. Each project's files come in one row: a worker whose next file is of another project
// ends, and a new worker would have to load the service again.

import { relative, sep } from 'node:path';
import { BaseSequencer } from 'vitest/node';

/**
 * The slowest first. Of the tests that kill a process at its commits, one is among the first four: it builds the program
 * that the others find.
 */
export const slowFiles = [
  'server/test/simulation/simulation.test.ts',
  'server/test/faults/source-kill-points.test.ts',
  'scripts/demo.test.ts',
  'server/test/cli.test.ts',
  'platform/src/runner/data-promises.test.ts',
  'server/test/faults/kill-commits.test.ts',
  'console/test/templates.test.ts',
  'widget/test/form.test.ts',
  'console/test/live.test.ts',
  'console/test/screens.test.ts',
  'server/test/faults/kill-points.test.ts',
  'platform/src/jobs/scheduler.test.ts',
  'platform/connectors/s3/connector.test.ts',
  'widget/test/screens.test.ts',
  'server/src/definitions/own-definitions.test.ts',
  'platform/src/runner/sync.test.ts',
  'server/test/faults/store-faults.test.ts',
  'server/src/pipelines/set-up.test.ts',
  'widget/test/sign-in.test.ts',
  'server/test/faults/traps.test.ts',
  'server/src/reference/document.test.ts',
  'server/src/pipelines/hosted.test.ts',
  'widget/test/embedding.test.ts',
  'server/test/faults/killed-connectors.test.ts',
  'console/test/first-steps.test.ts',
  'server/test/faults/replicas.test.ts',
  'widget/test/journey.test.ts',
  'server/test/faults/killed-syncs.test.ts',
  'server/src/quotas/holds.test.ts',
  'widget/test/history.test.ts',
  'platform/src/definitions/declarative-definitions.test.ts',
  'platform/connectors/destination-postgres/faults.test.ts',
  'server/src/pipelines/sources.test.ts',
  'server/test/security/route-table.test.ts',
  'server/src/workspaces/operations.test.ts',
  'bench/smoke.test.ts',
  'console/test/management.test.ts',
  'console/test/frames.test.ts',
  'embed/test/package.test.ts',
  'platform/test/inferred-schemas.test.ts',
  'platform/src/jobs/jobs.test.ts',
  'server/test/faults/rollouts.test.ts',
  'platform/connectors/source-postgres/incremental.test.ts',
  'server/src/pipelines/fair-share.test.ts',
  'server/test/security/input.test.ts',
  'platform/connectors/file/file.test.ts',
  'console/test/ways-in.test.ts',
  'platform/connectors/local-files/connector.test.ts',
  'server/test/security/connector-secrets.test.ts',
  'server/test/faults/outage.test.ts',
  'embed/test/tokens.test.ts',
  'server/test/operations.test.ts',
  'server/src/pipelines/rollouts.test.ts',
  'platform/connectors/destination-postgres/drift.test.ts',
  'platform/connectors/source-postgres/source-postgres.test.ts',
  'server/test/two-audiences.test.ts',
  'platform/torture/faults.test.ts',
  'server/src/workspaces/creation.test.ts',
  'server/test/faults/platform-faults.test.ts',
  'server/test/security/store-down.test.ts',
  'platform/connectors/destination-postgres/values.test.ts',
  'server/test/source-races.test.ts',
  'platform/torture/matrix.test.ts',
  'server/test/hosted-platform.test.ts',
  'platform/src/jobs/sync-plan.test.ts',
  'server/src/audit/trail.test.ts',
  'platform/test/postgres-to-postgres.test.ts',
  'server/src/definitions/own-versions.test.ts',
  'widget/test/other-site.test.ts',
  'server/test/security/transport.test.ts',
  'server/src/workspaces/names.test.ts',
  'platform/connectors/destination-postgres/destination-postgres.test.ts',
  'server/src/pipelines/jobs.test.ts',
  'widget/test/health.test.ts',
  'server/src/pipelines/rollout-replicas.test.ts',
  'server/src/pipelines/hosted-checks.test.ts',
  'platform/connectors/http-api/http-api.test.ts',
  'server/test/faults/killed-audit.test.ts',
  'server/test/migrations.test.ts',
  'server/src/pipelines/destination-checks.test.ts',
  'server/test/faults/killed-deliveries.test.ts',
  'server/test/journey.test.ts',
  'server/test/faults/killed-keyed-requests.test.ts',
  'server/src/quotas/quotas.test.ts',
  'server/src/workspaces/sync.test.ts',
  'platform/src/runner/ask.test.ts',
  'server/test/security/ssrf.test.ts',
  'server/test/faults/connection-kill-points.test.ts',
  'server/test/races.test.ts',
  'server/src/workspaces/search.test.ts',
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
