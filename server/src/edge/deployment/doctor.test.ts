/** What doctor says of a configuration. Databases, platforms and the command itself are tested in test/cli.test.ts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { examine } from './doctor.ts';

async function findingsOf(env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-doctor-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return await examine({ INLAY_DATA_DIR: join(folder, 'data'), ...env });
}

const both =
  'Connectors: can reach private networks and other programs on this machine, but never the service itself (';
const publicOnly = 'Connectors: can reach only the public internet (';
const changes = '; set INLAY_ALLOW_PRIVATE_NETWORKS to change this)';

it.each([
  ['ok', 'Metrics: on the service, reachable only from this machine', {}],
  [
    'warn',
    'Metrics: anyone who can reach the service can read /metrics',
    { INLAY_PUBLIC_URL: 'https://inlay.example' },
  ],
  ['ok', 'Metrics: on port 9464, reachable only from this machine', { HOST: '::', INLAY_METRICS_PORT: '9464' }],
  [
    'warn',
    'Metrics: anyone who can reach port 9464 can read /metrics',
    { INLAY_METRICS_PORT: '9464', INLAY_METRICS_HOST: '0.0.0.0' },
  ],
  [
    'ok',
    'Metrics: protected by INLAY_METRICS_TOKEN',
    { HOST: '::', INLAY_METRICS_TOKEN: 'a-token-that-only-prometheus-knows' },
  ],
])('%s: %s', async (state, what, env) => {
  const findings = await findingsOf(env);
  expect(findings.filter((finding) => finding.what.startsWith('Metrics:'))).toEqual([
    expect.objectContaining({ state, what }),
  ]);
});

it('warns that sign-ins are refused over plain http, unless on this machine', async () => {
  const signIns = async (url: string) =>
    (await findingsOf({ INLAY_PUBLIC_URL: url })).filter(({ what }) => what.startsWith('Customer sign-in'));
  expect(await signIns('http://inlay.example')).toEqual([
    expect.objectContaining({ state: 'warn', advice: 'Set INLAY_PUBLIC_URL to an https URL.' }),
  ]);
  for (const fine of ['https://inlay.example', 'http://localhost:3000', 'http://127.0.0.1:3000']) {
    expect(await signIns(fine), fine).toEqual([]);
  }
});

it.each([
  ['ok', `${both}HOST and INLAY_PUBLIC_URL are on loopback${changes}`, {}],
  ['ok', `${publicOnly}INLAY_PUBLIC_URL is not on loopback${changes}`, { INLAY_PUBLIC_URL: 'https://inlay.example' }],
  ['ok', `${publicOnly}HOST is not on loopback${changes}`, { HOST: '0.0.0.0' }],
  ['ok', `${publicOnly}INLAY_ALLOW_PRIVATE_NETWORKS is false)`, { INLAY_ALLOW_PRIVATE_NETWORKS: 'false' }],
  [
    'warn',
    `${both}INLAY_ALLOW_PRIVATE_NETWORKS is true)`,
    { INLAY_ALLOW_PRIVATE_NETWORKS: 'true', INLAY_PUBLIC_URL: 'https://inlay.example' },
  ],
])('%s: %s', async (state, what, env) => {
  const findings = await findingsOf(env);
  expect(findings.filter((finding) => finding.what.startsWith('Connectors:'))).toEqual([
    expect.objectContaining({ state, what }),
  ]);
});
