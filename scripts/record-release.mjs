// Makes the present commit the last release: writes its name into release.json, and the statements that it runs into the
// fixture of server/test/statements.test.ts.
//
//   npm run record-release

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Together they run nearly every statement. */
const recorded = [
  'server/src',
  'server/test/specification',
  'server/test/oauth/sign-in.test.ts',
  'server/test/audit.test.ts',
  'server/test/operations.test.ts',
  'server/test/journey.test.ts',
  'server/test/encryption-key.test.ts',
  'platform/src',
];

const folder = mkdtempSync(join(tmpdir(), 'inlay-statements-'));
/** @param {string[]} paths @param {Record<string, string>} env */
const runTests = (paths, env) =>
  execFileSync(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...paths], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
try {
  runTests(recorded, { INLAY_RECORD_STATEMENTS: folder });
  runTests(['server/test/statements.test.ts'], { UPDATE_STATEMENTS: folder });
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  writeFileSync(join(root, 'release.json'), `${JSON.stringify({ commit }, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
