/** Sources whose customers signed in, where `inlay platform` is a process of its own. */
import { expect, it } from 'vitest';
import { eventually } from '../support/deployment.ts';
import { startRotatingProvider } from '../support/rotating-provider.ts';
import { connectSource, startSeparatePlatform } from '../support/separate-platform.ts';
import { runCli } from '../support/service.ts';

it('Sources at a separate platform outlive their first access token, and wait for a service that is away without bothering the customer', async () => {
  const rotating = await startRotatingProvider({ tokenSeconds: 2 });
  const deployment = await startSeparatePlatform('sqlite', { replicas: 1 });
  try {
    const { ask, check, credentialId, connectionId, ownConnectionId } = await connectSource(deployment, rotating);
    expect(await check(credentialId)).toMatchObject({ status: 'succeeded' });

    for (let sync = 1; sync <= 2; sync++) {
      rotating.endTokens();
      const job = await deployment.jobWhen(await deployment.startJob(connectionId), ({ status }) =>
        ['succeeded', 'failed'].includes(status),
      );
      expect(job).toMatchObject({ status: 'succeeded', rowsSynced: 1 });
    }
    expect(rotating.issued()).toBeGreaterThan(2);

    await deployment.stopReplicas();
    rotating.endTokens();
    const jobId = await deployment.startJob(connectionId);
    const waiting = await deployment.jobWhen(jobId, ({ failureReason }) => failureReason !== undefined);
    expect(waiting).toMatchObject({
      failedAttempts: 0,
      failureReason: { origin: 'platform', type: 'transient_error' },
    });
    expect(waiting.failureReason.message).toContain(deployment.platformEnv.INLAY_SERVICE_URL);
    await deployment.startReplica();
    const job = await deployment.jobWhen(jobId, ({ status }) => ['succeeded', 'failed'].includes(status));
    expect(job).toMatchObject({ status: 'succeeded', failedAttempts: 0, rowsSynced: 1 });
    expect(job).not.toHaveProperty('failureReason');

    await eventually('the service has seen the sync', async () => {
      const { health } = await ask('GET', `/connections/${ownConnectionId}`);
      return health.state === 'healthy';
    });
    const events = (await deployment.request('GET', '/api/v1/events?limit=500')).text;
    expect(events).not.toContain('needs_attention');
    const { body } = await deployment.request('GET', '/api/v1/integrations/credentials');
    expect(body.data).toMatchObject([{ owner: 'service', state: 'connected', has_refresh_token: true }]);
    expect(rotating.reused).toEqual([]);
    expect(deployment.output()).not.toMatch(/(access|refresh)-\d/);

    const ofService = await runCli(['doctor'], { env: deployment.env });
    expect(ofService.stdout).toContain('tokens from this service');
    const ofPlatform = await runCli(['doctor'], { env: deployment.platformEnv });
    expect(ofPlatform.stdout).toContain(`ok    Service: ${deployment.platformEnv.INLAY_SERVICE_URL} responds`);
  } finally {
    await deployment.stop();
    rotating.close();
  }
});
