/** Which failures have one cause, when a connection is stale, and that numbers and lists agree, on both databases. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { planOf, statementOf } from '../../../test/support/query-plan.ts';
import { type Seeded, seedPipelines } from '../../../test/support/seed-pipelines.ts';
import { byWorker } from '../../kernel/cause.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionRow } from '../../kernel/db/tables.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createJournal } from '../../log/events/journal.ts';
import * as overview from '../../operating/overview.store.ts';
import * as lists from '../sources/lists.store.ts';
import { operatorsOnly } from '../two-texts.ts';
import { causeOf, normalized, staleAt } from './failure-causes.ts';
import { type ConnectionFacts, healthOf, type JobFailure } from './health.ts';
import { refreshHealth } from './jobs.ts';

const failure = (message: string, more: Partial<JobFailure> = {}): JobFailure => ({
  kind: 'transient_error',
  origin: 'source',
  message,
  customerMessage: null,
  reasons: { operator: { code: 'connector_error', parameters: {} }, customer: null },
  whose: 'operator',
  ...more,
});
const nothing: ConnectionFacts = {
  isPaused: false,
  pausedBecause: null,
  stoppedBecause: null,
  isGone: false,
  refused: null,
  signIn: null,
  open: null,
  failed: null,
  lastGoodAt: null,
};
const failing = (last: JobFailure) => healthOf({ ...nothing, failed: { count: 1, firstAt: 5, first: last, last } });

describe('The cause of a failure', () => {
  it.each([
    ['connect ECONNREFUSED 10.1.2.3:5432', 'connect ECONNREFUSED 192.168.7.20:5433'],
    ['getaddrinfo ENOTFOUND db.acme.example', 'getaddrinfo ENOTFOUND pg-7.globex.co.uk'],
    ['password authentication failed for user "acme"', 'password authentication failed for user "globex inc"'],
    [`The file 'a.csv' has 12 columns`, `The file 'it is.csv' has 7 columns`],
    ['https://api.acme.example/v1?page=3 answered 503', 'http://other.example answered 502'],
    [
      'No row 7f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11 for ann@acme.example',
      'No row 5f0c8f7e-3e3b-4b43-9d3c-9a1f4c0e2d55 for bob@globex.example',
    ],
  ])('is the same for %s and %s', (one, other) => {
    expect(normalized(one)).toBe(normalized(other));
    expect(causeOf(failing(failure(one)))).toBe(causeOf(failing(failure(other))));
  });

  it('is known by code and parameters where the words are our own', () => {
    const missing = (streams: string[], message: string) =>
      healthOf({
        ...nothing,
        refused: operatorsOnly({ code: 'template_streams_gone', parameters: { streams } }, message),
      });
    expect(causeOf(missing(['a'], 'Old words.'))).toBe(causeOf(missing(['a'], 'New words.')));
    expect(causeOf(missing(['a'], 'Words.'))).not.toBe(causeOf(missing(['b'], 'Words.')));
  });

  it('differs with the words, the kind, the origin, and with who has to do something', () => {
    const healths = [
      failing(failure('The line was cut.')),
      failing(failure(`The line isn't there, it's cut.`)),
      failing(failure('The line was cut.', { kind: 'system_error' })),
      failing(failure('The line was cut.', { origin: 'destination' })),
      failing(failure('The line was cut.', { kind: 'config_error' })),
      failing(failure('The line was cut.', { kind: 'config_error', whose: 'customer' })),
    ];
    const causes = healths.map(causeOf);
    expect(new Set(causes).size).toBe(healths.length);
    for (const cause of causes) expect(cause).toMatch(/^[0-9a-f]{32}$/);
    expect(causeOf(healthOf({ ...nothing, lastGoodAt: 5 }))).toBeNull();
  });

  it('is found quickly in a long hostile message', () => {
    for (const piece of ['a.', '@', '"', "'", '0:', 'a@', '://']) {
      expect(normalized(piece.repeat(1_000_000)).length).toBeLessThanOrEqual(300);
    }
  });
});

describe('A connection', () => {
  const at = Date.parse('2026-01-05T00:30:00Z');
  const row = { cron_expression: '0 0 * * * ?', slowed_cron: null, is_set_up: 1, created_at: at } as ConnectionRow;
  const good = healthOf({ ...nothing, lastGoodAt: at });
  const shown = (time: number | null) => time && new Date(time).toISOString();

  it('is stale once it has missed three runs of its schedule, and a day', () => {
    expect(shown(staleAt(row, good))).toBe('2026-01-06T00:30:00.000Z');
    const daily = { ...row, cron_expression: '0 0 6 * * ?' };
    expect(shown(staleAt(daily, good))).toBe('2026-01-07T06:00:00.000Z');
    // From Friday to Monday nothing is missed.
    const workdays = { ...row, cron_expression: '0 0 6 ? * MON-FRI' };
    const friday = healthOf({ ...nothing, lastGoodAt: Date.parse('2026-01-09T06:01:00Z') });
    expect(shown(staleAt(workdays, friday))).toBe('2026-01-14T06:00:00.000Z');
    expect(shown(staleAt(row, healthOf(nothing)))).toBe('2026-01-06T00:30:00.000Z');
  });

  it('is never stale without a schedule, while it is paused, and before it is set up', () => {
    expect(staleAt({ ...row, cron_expression: null }, good)).toBeNull();
    expect(staleAt(row, healthOf({ ...nothing, isPaused: true }))).toBeNull();
    expect(staleAt({ ...row, is_set_up: 0 }, good)).toBeNull();
  });
});

const path = '/api/v1/integrations';

describeOnBothDatabases('The overview of causes', (kind) => {
  let test: TestApp;
  let seeded: Seeded[];
  const ctx = () => ({ store: test.app.store, journal: createJournal({ runtime: systemRuntime, cause: byWorker }) });
  const reasons = [
    ['transient_error', 'connect ECONNREFUSED 10.0.0.%:5432', 'operator'],
    ['transient_error', 'connect ECONNREFUSED 10.0.0.%:5432', 'operator'],
    ['config_error', 'password authentication failed for user "u%"', 'customer'],
    ['config_error', 'The bucket b-% does not exist', 'operator'],
    [null, null, null],
  ] as const;
  const stored = JSON.stringify({ operator: { code: 'connector_error', parameters: {} }, customer: null });
  beforeAll(async () => {
    test = await startTestApp(kind);
    const { store, organization } = test.app;
    const healthOf = (index: number) => (index % 5 === 4 ? 'healthy' : 'failing');
    const options = { organizationId: organization.id, workspaces: 25, jobsEach: 1, healthOf } as const;
    ({ seeded } = await seedPipelines(store, options));
    for (const [index, { workspaceId, connectionId }] of seeded.entries()) {
      const [failure_kind, error, failure_whose] = reasons[index % 5] ?? reasons[4];
      await store.db
        .updateTable('jobs')
        .set({ failure_kind, failure_whose, error: error?.replace('%', String(index)) ?? null, reasons: stored })
        .where('connection_id', '=', connectionId)
        .execute();
      await store.db
        .updateTable('connections')
        // Seeded long ago: those with a schedule are stale.
        .set({ cron_expression: index % 2 === 0 ? '0 0 * * * ?' : null })
        .where('id', '=', connectionId)
        .execute();
      await store.transaction((tx) => refreshHealth(ctx(), tx, [workspaceId]));
    }
  });
  afterAll(() => test.stop());

  const get = async (rest: string) => {
    const answer = await test.request('GET', `${path}${rest}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  async function all(rest: string) {
    const items: Record<string, unknown>[] = [];
    for (let url: string | null = rest; url !== null; ) {
      const page: { data: typeof items; next: string | null } = await get(url);
      items.push(...page.data);
      url = page.next === null ? null : page.next.slice(page.next.indexOf(path) + path.length);
    }
    return items;
  }

  it('groups what fails by cause, the most frequent first, with examples that lead to the job', async () => {
    const body = await get('/overview');
    expect(body.causes.map((each: { connections: number }) => each.connections)).toEqual([10, 5, 5]);
    expect(body).toMatchObject({ more_causes: 0, counts_are_complete: true });
    const [refused] = body.causes;
    const [first] = seeded as [Seeded];
    expect(refused).toMatchObject({ kind: 'transient_error', origin: 'source', attention_by: null });
    expect(refused.message).toBe('connect ECONNREFUSED 10.0.0.0:5432');
    expect(refused.examples).toHaveLength(3);
    expect(refused.examples[0]).toEqual({
      code: 'connector_error',
      parameters: {},
      workspace_id: first.workspaceId,
      workspace_name: 'customer 0',
      connection_id: first.connectionId,
      source_id: first.sourceId,
      source_name: 'Shop',
      last_good_at: null,
      job_id: '1',
      since: refused.since,
      message: 'connect ECONNREFUSED 10.0.0.0:5432',
    });
    expect(refused.examples[1].message).toBe('connect ECONNREFUSED 10.0.0.1:5432');
    expect((await get(`/jobs/${refused.examples[1].job_id}`)).workspace_name).toBe('customer 1');
    expect(body.unwell[0].connection).toMatchObject({ source_name: 'Shop', job_id: expect.any(String) });
    const few = await get('/overview?causes=1');
    expect([few.causes.length, few.more_causes]).toEqual([1, 2]);
  });

  it('counts what its lists show: by cause, by who has to act, and what is stale', async () => {
    const { causes, attention, stale } = await get('/overview');
    for (const { cause, connections } of causes) {
      const listed = await all(`/connections?cause=${cause}&limit=3`);
      expect(listed).toHaveLength(connections);
      expect(new Set(listed.map((connection) => connection.cause))).toEqual(new Set([cause]));
    }
    expect(attention).toEqual({ customer: 5, operator: 5 });
    expect(await all('/connections?attention_by=customer&limit=2')).toHaveLength(5);
    expect(await all('/connections?attention_by=operator&limit=2')).toHaveLength(5);
    expect(stale).toBe(13);
    const listed = await all('/connections?stale=true&limit=4');
    expect(listed).toHaveLength(13);
    const times = listed.map(({ stale_since }) => String(stale_since));
    expect(times).toEqual(times.toSorted());
    expect(await all(`/connections?stale=true&attention_by=customer`)).toHaveLength(3);
    expect((await test.request('GET', `${path}/connections?cause=x`)).status).toBe(422);
  });

  it('forgets the cause once a sync succeeds, and staleness once the connection is paused', async () => {
    const { store } = test.app;
    const [one] = seeded as [Seeded];
    await store.db
      .updateTable('jobs')
      .set({ status: 'succeeded' })
      .where('connection_id', '=', one.connectionId)
      .execute();
    await store.db.updateTable('connections').set({ paused: 1 }).where('id', '=', one.connectionId).execute();
    await store.transaction((tx) => refreshHealth(ctx(), tx, [one.workspaceId]));
    const row = await store.db
      .selectFrom('connections')
      .select(['cause', 'attention_by', 'unwell_since', 'stale_at'])
      .where('id', '=', one.connectionId)
      .executeTakeFirst();
    expect(row).toEqual({ cause: null, attention_by: null, unwell_since: null, stale_at: null });
    const { causes, stale } = await get('/overview');
    expect([causes[0].connections, stale]).toEqual([9, 12]);
  });

  it('reads indexes that hold only what is unwell or has a schedule', async () => {
    const { db } = test.app.store;
    const slice = { after: { time: 5, id: seeded[0]?.connectionId ?? '' }, isNewestFirst: false, limit: 21 };
    const whole = { ...slice, from: undefined, until: undefined };
    const cause = '0'.repeat(32);
    const page = (filter: Parameters<typeof lists.listConnectionPage>[2]) => (catching: Db) =>
      lists.listConnectionPage(catching, test.organizationId, filter, whole);
    const forms: [string, (catching: Db) => Promise<unknown>][] = [
      ['connections_by_cause', page({ cause })],
      ['connections_by_attention', page({ attentionBy: 'customer' })],
      ['connections_stale', page({ isStale: true })],
      ['connections_by_cause', (catching) => overview.listOfCause(catching, test.organizationId, cause, 3)],
      ['connections_by_cause', (catching) => overview.countCauses(catching, test.organizationId)],
      ['connections_stale', (catching) => overview.countStale(catching, test.organizationId)],
    ];
    for (const [index, list] of forms) {
      const plan = await planOf(test.app.store, await statementOf(db, list));
      expect(plan).toMatch(new RegExp(`\\b${index}\\b`));
      expect(plan).not.toMatch(/SCAN connections|Seq Scan/);
    }
  });
});
