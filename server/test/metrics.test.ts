/** Who may read the metrics, and that their reference page names all of them. */
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../scripts/disposable.mjs';
import { createMetrics } from '../src/kernel/telemetry/metrics.ts';
import { startTestApp } from './support/app.ts';

const token = 'a-token-that-only-prometheus-knows';

async function start(env: Record<string, string>) {
  const test = await startTestApp('sqlite', { env });
  onTestFinished(() => test.stop());
  return test;
}

describe('/metrics', () => {
  it('is for everybody by default', async () => {
    const test = await start({});
    const { status, text } = await test.request('GET', '/metrics', { token: null });
    expect([status, text]).toEqual([200, expect.stringContaining('inlay_http_requests_total')]);
  });

  it('asks for INLAY_METRICS_TOKEN where that is set', async () => {
    const test = await start({ INLAY_METRICS_TOKEN: token });
    expect((await test.request('GET', '/metrics', { token })).status).toBe(200);
    expect(
      (await test.request('GET', '/metrics', { token: null, headers: { authorization: `bearer ${token}` } })).status,
    ).toBe(200);
    for (const wrong of [null, `${token}x`, token.slice(1), test.operatorToken, await test.scopedToken('acme')]) {
      const { status, text, headers } = await test.request('GET', '/metrics', { token: wrong });
      expect([status, text]).toEqual([401, '{"detail":"Invalid authentication credentials"}']);
      expect(headers['www-authenticate']).toBe('Bearer');
    }
    for (const authorization of [`Basic ${token}`, token, 'Bearer']) {
      const { status } = await test.request('GET', '/metrics', { token: null, headers: { authorization } });
      expect(status).toBe(401);
    }
    expect((await test.request('GET', `/metrics?token=${token}`, { token: null })).status).toBe(401);
  });

  it('is on INLAY_METRICS_PORT, and on no other port, where that is set', async () => {
    const [PORT, INLAY_METRICS_PORT] = [String(await freePort()), String(await freePort())];
    const test = await start({ PORT, INLAY_METRICS_PORT, INLAY_METRICS_TOKEN: token });
    await test.app.listen();
    const get = async (port: string, path: string) =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await get(PORT, '/metrics'), await get(INLAY_METRICS_PORT, '/metrics')]).toEqual([404, 200]);
    expect([await get(PORT, '/health/live'), await get(INLAY_METRICS_PORT, '/health/live')]).toEqual([200, 404]);
    expect((await fetch(`http://127.0.0.1:${INLAY_METRICS_PORT}/metrics`)).status).toBe(401);
  });
});

it('docs/reference/metrics.md has every metric with its kind, its labels and its meaning', async () => {
  const metrics = createMetrics();
  metrics.watchLog(async () => 0);
  metrics.watchBacklog(async () => ({ claims: 0, operations: {}, sources: 0 }));
  metrics.watchWebhooks(async () => ({ retrying: 0, oldestMs: 0 }));
  metrics.watchWorkers(async () => ({ oldestPendingMs: 0, pending: [], free: [] }));
  metrics.watchSyncs(async () => ({ waiting: 0, running: 0, oldestWaitingMs: null, byHealth: {} }));
  const registered = metrics.registry.getMetricsAsArray() as unknown as {
    name: string;
    help: string;
    type: string;
    labelNames: string[];
  }[];
  const rows = registered
    .filter(({ name }) => name.startsWith('inlay_'))
    .map(({ name, help, type, labelNames }) =>
      ['', `\`${name}\``, type, labelNames.map((label) => `\`${label}\``).join(', '), help, '']
        .join(' | ')
        .trim()
        .replace('|  |', '| |'),
    );
  const page = readFileSync(new URL('../../docs/reference/metrics.md', import.meta.url), 'utf8').split('\n');
  expect(page.filter((line) => /^\| `inlay_\w+` \|/.test(line)).toSorted()).toEqual(rows.toSorted());
});

it('services of one process share its numbers, which prom-client never stops measuring', () => {
  const [one, other] = [createMetrics().registry, createMetrics().registry];
  for (const name of ['nodejs_gc_duration_seconds', 'nodejs_eventloop_lag_p99_seconds']) {
    expect(one.getSingleMetric(name)).toBeDefined();
    expect(other.getSingleMetric(name)).toBe(one.getSingleMetric(name));
  }
  expect(other.getSingleMetric('inlay_http_requests_total')).not.toBe(one.getSingleMetric('inlay_http_requests_total'));
});
