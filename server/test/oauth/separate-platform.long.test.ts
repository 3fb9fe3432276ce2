/**
 * Both documented deployments with a platform of its own, with access tokens of 60 seconds and syncs for ten minutes: one
 * service on SQLite, and two replicas on PostgreSQL. Every process is restarted, one of each kind is killed, and the service is
 * away for a while. INLAY_OAUTH_PROOF_MINUTES makes the proof shorter.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/deployment.ts';
import { startRotatingProvider } from '../support/rotating-provider.ts';
import { connectSource, type SeparatePlatform, startSeparatePlatform } from '../support/separate-platform.ts';

const minutes = Number(process.env.INLAY_OAUTH_PROOF_MINUTES ?? 10);
const proofMs = minutes * 60_000;
const tokenSeconds = 60;
const pauseMs = 5_000;

describe.each([
  { kind: 'sqlite', replicas: 1 },
  { kind: 'postgres', replicas: 2 },
] as const)('A platform of its own with $replicas on $kind', ({ kind, replicas }) => {
  it(`syncs for ${minutes} minutes with tokens of a minute`, { timeout: proofMs + 1_200_000 }, async () => {
    const rotating = await startRotatingProvider({ tokenSeconds, endsByTime: true });
    const deployment = await startSeparatePlatform(kind, { replicas });
    try {
      const { ask, connectionId, ownConnectionId } = await connectSource(deployment, rotating);
      const startedAt = performance.now();
      const disturbances = disturbancesOf(deployment, replicas);
      let syncs = 0;
      while (performance.now() - startedAt < proofMs) {
        const [due] = disturbances;
        const disturb = due && performance.now() - startedAt >= due.at * proofMs ? disturbances.shift() : undefined;
        const jobId = await deployment.startJob(connectionId);
        await disturb?.run();
        const job = await deployment.jobWhen(jobId, ({ status }) => ['succeeded', 'failed'].includes(status));
        expect(job, deployment.output()).toMatchObject({ status: 'succeeded', failedAttempts: 0, rowsSynced: 1 });
        syncs++;
        await delay(pauseMs);
      }
      expect(disturbances).toEqual([]);
      expect(rotating.reused).toEqual([]);
      // However many replicas there are, a token is refreshed about once a minute, and not by each of them.
      expect(rotating.issued()).toBeGreaterThan(minutes / 2);
      expect(rotating.issued()).toBeLessThan(4 * minutes + 5);
      await eventually('the service has seen the last sync', async () => {
        const { health } = await ask('GET', `/connections/${ownConnectionId}`);
        return health.state === 'healthy';
      });
      expect((await deployment.request('GET', '/api/v1/events?limit=500')).text).not.toContain('needs_attention');
      expect(deployment.output()).not.toMatch(/(access|refresh)-\d/);
      process.stdout.write(`${kind}, ${replicas}: ${syncs} syncs, ${rotating.issued()} access tokens\n`);
    } finally {
      await deployment.stop();
      rotating.close();
    }
  });
});

/** What befalls the deployment, and after which part of the proof. */
function disturbancesOf(deployment: SeparatePlatform, replicas: number) {
  const startAll = async () => {
    for (let i = 0; i < replicas; i++) await deployment.startReplica();
  };
  return [
    { at: 0.15, run: () => deployment.restartPlatform() },
    {
      at: 0.3,
      run: async () => {
        await deployment.stopReplicas();
        await startAll();
      },
    },
    {
      // Longer than a token lives.
      at: 0.45,
      run: async () => {
        await deployment.stopReplicas();
        await delay(Math.min(90_000, proofMs / 5));
        await startAll();
      },
    },
    { at: 0.7, run: () => deployment.restartPlatform('SIGKILL') },
    {
      at: 0.8,
      run: async () => {
        await deployment.stopReplicas('SIGKILL');
        await startAll();
      },
    },
  ];
}
