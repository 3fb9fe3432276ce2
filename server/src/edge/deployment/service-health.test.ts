/** What operators see of the service: on both databases, by role and by organization. */
import { randomUUID } from 'node:crypto';
import type { ServiceHealth } from '@inlay/contract/log/service-health';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { addTenant } from '../../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { unreachable } from '../../../test/support/faults.ts';
import { startHostedApp } from '../../../test/support/hosted-app.ts';
import { variables } from '../../kernel/config/variables.ts';
import { type Runtime, systemRuntime } from '../../kernel/runtime.ts';
import { version } from '../../kernel/version.ts';

const path = '/api/v1/integrations/health';

describeOnBothDatabases('The health of the service', (kind) => {
  let test: TestApp;
  const key = 'an-operator-token-that-nobody-else-has-0123';
  beforeAll(async () => {
    test = await startTestApp(kind, { env: { INLAY_OPERATOR_TOKEN: key, INLAY_JOB_HISTORY_DAYS: '7' } });
    await test.app.workers.presence.tell();
  });
  afterAll(() => test.stop());
  const read = async (token?: string): Promise<ServiceHealth> => {
    const answer = await test.request('GET', path, token === undefined ? {} : { token });
    expect(answer.status).toBe(200);
    return answer.body;
  };

  it('shows the first organization replicas, versions, migrations and settings', async () => {
    const { deployment, ...health } = await read();
    expect(health).toMatchObject({
      version,
      platform: { kind: 'bundled', failure: null, failing_since: null, last_failure_at: null },
      database: { kind },
    });
    expect(deployment?.replicas).toEqual([expect.objectContaining({ version, is_present: true })]);
    expect(deployment?.versions).toEqual({
      node: process.versions.node,
      database: expect.stringMatching(kind === 'sqlite' ? /^SQLite 3\./ : /^PostgreSQL \d+/),
      platform: version,
    });
    expect(deployment?.migrations).toMatchObject({ pending: [], unknown: [], applied: expect.any(Number) });
    expect(deployment?.settings.map(({ name }) => name)).toEqual(Object.keys(variables));
    const setting = (name: string) => deployment?.settings.find((one) => one.name === name);
    expect(setting('INLAY_JOB_HISTORY_DAYS')).toMatchObject({ value: '7', is_set: true, is_secret: false });
    expect(setting('INLAY_EVENT_DAYS')).toMatchObject({ value: '90', is_set: false });
    expect(setting('INLAY_OPERATOR_TOKEN')).toMatchObject({ value: null, is_set: true, is_secret: true });
    expect(setting('INLAY_DATABASE_URL')).toMatchObject({ value: null, is_set: kind === 'postgres', is_secret: true });
    expect(JSON.stringify(deployment)).not.toContain(key);
  });

  it('reports what doctor finds, the worst first, each with what to do', async () => {
    const { checks, state } = await read();
    const names = kind === 'sqlite' ? 'SQLite' : 'PostgreSQL';
    const whats = checks.map(({ what }) => what);
    expect(whats).toEqual(
      expect.arrayContaining([`Database: ${names}, up to date`, 'Replicas: 1 running', 'Platform: bundled']),
    );
    const states = checks.map((check) => check.state);
    expect(states).toEqual(
      states.toSorted((a, b) => ['fail', 'warn', 'ok'].indexOf(a) - ['fail', 'warn', 'ok'].indexOf(b)),
    );
    expect(state).toBe(states[0]);
    for (const check of checks) expect(check.advice === null, check.what).toBe(check.state === 'ok');
  });

  it('shows other organizations only their own', async () => {
    const other = await addTenant(test, 'other');
    const health = await read(other.token);
    expect(health.deployment).toBeNull();
    expect(health.platform.kind).toBe('bundled');
    const text = JSON.stringify(health);
    expect(text).toContain('Organization other');
    expect(text).not.toContain(test.organizationId);
    expect(text).not.toContain(test.dataDir);
  });

  it('forgets a replica that stops, and shows one that was killed for an hour', async () => {
    const { db } = test.app.store;
    const ago = async (ms: number) => (await test.app.store.now()) - ms;
    const [silent, forgotten] = [randomUUID(), randomUUID()];
    const killed = { host: 'gone', version: '0.0.1', started_at: 0 };
    await db
      .insertInto('replicas')
      .values([
        { ...killed, id: silent, last_seen_at: await ago(60_000) },
        { ...killed, id: forgotten, last_seen_at: await ago(3_700_000) },
      ])
      .execute();
    await test.app.workers.presence.tell();
    const rows = await db.selectFrom('replicas').select('id').execute();
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual({ id: silent });
    await test.restart();
    // An answer of the process before is not kept.
    const { checks, deployment } = await read();
    expect(deployment?.replicas).toEqual([expect.objectContaining({ host: 'gone', is_present: false })]);
    expect(checks).toContainEqual(
      expect.objectContaining({
        state: 'warn',
        what: expect.stringMatching(/^Replicas: .*\bgone\b/),
      }),
    );
  });
});

it('does not wait long for a platform that is silent, and asks it once for all who want to know', async () => {
  const timeLimit: Runtime['timeLimit'] = (ms, signal) => systemRuntime.timeLimit(ms / 10, signal);
  const runtime = { ...systemRuntime, timeLimit };
  const { test, faulty, stop } = await startHostedApp('sqlite', undefined, {}, { runtime });
  onTestFinished(stop);
  let speak = () => {};
  const silence = new Promise<void>((done) => {
    speak = done;
  });
  let asked = 0;
  faulty.rule(async (_request, forward) => {
    asked += 1;
    await silence;
    return await forward();
  });
  const read = async (): Promise<ServiceHealth> => (await test.request('GET', path)).body;
  const [first, second] = await Promise.all([read(), read()]);
  expect(first).toEqual(second);
  expect(first).toMatchObject({ state: 'fail', platform: { kind: 'hosted' } });
  expect(first.checks[0]).toMatchObject({
    state: 'fail',
    what: expect.stringMatching(/^Platform: http:.* 5 seconds$/),
  });
  expect(await read()).toEqual(first);
  expect(asked).toBe(1);
  speak();
});

it('says since when the platform does not answer', async () => {
  const { test, faulty, stop } = await startHostedApp('sqlite');
  onTestFinished(stop);
  faulty.rule(unreachable(() => true));
  const { checks, platform }: ServiceHealth = (await test.request('GET', path)).body;
  expect(platform).toMatchObject({ failure: 'unavailable', failing_since: expect.any(String) });
  expect(checks[0]).toMatchObject({ state: 'fail', advice: expect.stringContaining('INLAY_PLATFORM_URL') });
});
