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

const both = 'private networks';
const publicOnly = 'only the public internet';

it.each([
  ['ok', 'the service', {}],
  ['warn', 'the service', { INLAY_PUBLIC_URL: 'https://inlay.example' }],
  ['ok', 'port 9464', { HOST: '::', INLAY_METRICS_PORT: '9464' }],
  ['warn', 'port 9464', { INLAY_METRICS_PORT: '9464', INLAY_METRICS_HOST: '0.0.0.0' }],
  ['ok', 'INLAY_METRICS_TOKEN', { HOST: '::', INLAY_METRICS_TOKEN: 'a-token-that-only-prometheus-knows' }],
])('The finding on metrics is %s and names %s', async (state, part, env) => {
  const findings = await findingsOf(env);
  expect(findings.filter((finding) => finding.what.startsWith('Metrics:'))).toEqual([
    expect.objectContaining({ state, what: expect.stringContaining(part) }),
  ]);
});

it('warns that sign-ins are refused over plain http, unless on this machine', async () => {
  const signIns = async (url: string) =>
    (await findingsOf({ INLAY_PUBLIC_URL: url })).filter(({ what }) => what.startsWith('Customer sign-in'));
  expect(await signIns('http://inlay.example')).toEqual([
    expect.objectContaining({ state: 'warn', advice: expect.stringContaining('INLAY_PUBLIC_URL') }),
  ]);
  for (const fine of ['https://inlay.example', 'http://localhost:3000', 'http://127.0.0.1:3000']) {
    expect(await signIns(fine), fine).toEqual([]);
  }
});

it.each([
  ['ok', both, 'HOST and INLAY_PUBLIC_URL are on loopback; set INLAY_ALLOW_PRIVATE_NETWORKS', {}],
  [
    'ok',
    publicOnly,
    'INLAY_PUBLIC_URL is not on loopback; set INLAY_ALLOW_PRIVATE_NETWORKS',
    { INLAY_PUBLIC_URL: 'https://inlay.example' },
  ],
  ['ok', publicOnly, 'HOST is not on loopback; set INLAY_ALLOW_PRIVATE_NETWORKS', { HOST: '0.0.0.0' }],
  ['ok', publicOnly, '(INLAY_ALLOW_PRIVATE_NETWORKS is false)', { INLAY_ALLOW_PRIVATE_NETWORKS: 'false' }],
  [
    'warn',
    both,
    '(INLAY_ALLOW_PRIVATE_NETWORKS is true)',
    { INLAY_ALLOW_PRIVATE_NETWORKS: 'true', INLAY_PUBLIC_URL: 'https://inlay.example' },
  ],
])('The finding on connectors is %s: they can reach %s, because %s', async (state, reach, reason, env) => {
  const [finding, ...others] = (await findingsOf(env)).filter(({ what }) => what.startsWith('Connectors:'));
  expect(others).toEqual([]);
  expect(finding?.state).toBe(state);
  expect(finding?.what).toContain(reach);
  expect(finding?.what).toContain(reason);
});
