/**
 * One schedule about attempts of jobs: coordinators that run some in their own process, workers that claim the others over a
 * network that loses requests and answers, pauses, crashes, workers' clocks that are off by hours, cancelled jobs. The code of an
 * attempt, its desk and the book of attempts are the real ones, on a real SQLite store.
 *
 * Sources and destinations are models. A destination keeps the highest epoch that it has seen, as ours do, and commits some rows only after
 * their writer is gone. It and triggers in the database write down what happens, so nothing depends on what the code under test
 * believes.
 */
import { runAttempt } from '@inlay/platform/attempts/attempt';
import type { Assignment, Desk } from '@inlay/platform/attempts/desk';
import { openStore, type Store } from '@inlay/platform/db/open';
import { bundledDefinitions } from '@inlay/platform/definitions/bundled-definitions';
import {
  type Beat,
  claimAttempt,
  judgeTimes,
  makeRoom,
  putBackAbandoned,
  queueDueJobs,
  renewAttempts,
} from '@inlay/platform/jobs/attempts-book';
import type { Claimant, JobsContext } from '@inlay/platform/jobs/context';
import { openDesk, type StoreDesk } from '@inlay/platform/jobs/desk';
import { cancelJob, createJob } from '@inlay/platform/jobs/jobs';
import { Problem } from '@inlay/platform/problems';
import type { ConfiguredConnector, Progress, Runner, SyncOutcome } from '@inlay/platform/runner/runner';
import type { Catalog, State } from '@inlay/protocol/protocol';
import { sql } from 'kysely';
import { World } from './world.ts';

const stormMs = 90_000;
/** Longer than a lease, a pause, the retries of a job and every attempt together. */
const calmMs = 240_000;
const lookEveryMs = 5_000;
const heartbeatEveryMs = 10_000;
/** A worker that hears nothing for so long ends what it runs, if it isn't paused itself. */
const deafAfterMs = 25_000;
const leaseMs = 30_000;
/** Coordinators let a lease rest that was renewed so recently. */
const restMs = 10_000;
const perWorkspace = 2;
const rowsOfSource = 6;

export interface AttemptOutcome {
  violations: string[];
  attempts: number;
  succeeded: number;
  fenced: number;
}

class NetworkError extends Error {}
class Crashed extends Error {}

const catalog: Catalog = {
  streams: [
    {
      name: 'items',
      json_schema: { type: 'object', properties: { id: { type: 'integer' } } },
      supported_sync_modes: ['full_refresh', 'incremental'],
      source_defined_cursor: true,
      default_cursor_field: ['id'],
    },
  ],
};

/** One store for all schedules: to make its tables takes longer than a schedule. */
let shared: Promise<Store> | undefined;
let clock = () => 0;

async function emptyStore(now: () => number): Promise<Store> {
  clock = now;
  const isNew = shared === undefined;
  shared ??= openStore(':memory:', { now: () => clock() });
  const store = await shared;
  const run = (text: string) => sql.raw(text).execute(store.db);
  if (isNew) for (const text of witness) await run(text);
  const tables = [
    'seen',
    'interrupted',
    'job_attempts',
    'jobs',
    'connection_catalogs',
    'connection_streams',
    'connection_states',
  ];
  for (const table of [
    ...tables,
    'discovered_catalogs',
    'connections',
    'connectors',
    'coordinators',
    'workspaces',
    'sqlite_sequence',
  ])
    await run(`delete from ${table}`);
  return store;
}

/** What a claim has led to, and from what: in the transaction that makes it. */
const witness = [
  `create table seen (
    at integer, connection_id text, workspace_id text, owner text, epoch integer, of_connection integer,
    of_workspace integer, of_owner integer, fewest integer
  )`,
  `create trigger see_claims after update of status on jobs when new.status = 'running' and old.status <> 'running' begin
    insert into seen select now_ms(), new.connection_id, new.workspace_id, new.owner, new.epoch,
      (select count(*) from jobs where owner is not null and connection_id = new.connection_id),
      (select count(*) from jobs where owner is not null and workspace_id = new.workspace_id),
      (select count(*) from jobs where owner = new.owner),
      (select min((select count(*) from jobs h where h.owner is not null and h.workspace_id = w.workspace_id))
        from jobs w where w.next_attempt_at <= now_ms() and w.workspace_id <> new.workspace_id and not exists (
          select 1 from jobs h where h.owner is not null and h.connection_id = w.connection_id));
  end`,
  'create table interrupted (at integer, job_id integer, attempt integer)',
  `create trigger see_interruptions after update of status on job_attempts when new.status = 'interrupted' begin
    insert into interrupted select now_ms(), new.job_id, new.attempt;
  end`,
];

/** What a destination of ours does with epochs, and what its table holds. */
class Destination {
  highest = 0;
  readonly rows = new Map<number, number>();
  readonly commits: number[] = [];
  fenced = 0;

  begin(epoch: number): boolean {
    if (epoch < this.highest) return this.#refuse();
    this.highest = epoch;
    return true;
  }

  commit(epoch: number, rows: readonly number[]): boolean {
    if (epoch < this.highest) return this.#refuse();
    this.commits.push(epoch);
    for (const row of rows) this.rows.set(row, (this.rows.get(row) ?? 0) + 1);
    return true;
  }

  #refuse(): false {
    this.fenced++;
    return false;
  }
}

/** Coordinators and workers: something that runs until it crashes, and may be paused. */
class Machine {
  isDown = false;
  #pausedUntil = 0;
  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  pause(ms: number): void {
    this.#pausedUntil = this.world.now + ms;
  }

  async sleep(ms: number): Promise<void> {
    await this.world.pause(ms);
    while (this.world.now < this.#pausedUntil) await this.world.pause(this.#pausedUntil - this.world.now);
    if (this.isDown) throw new Crashed();
  }
}

interface Coordinator {
  machine: Machine;
  name: string;
  ctx: JobsContext;
}

interface Active {
  ref: Assignment;
  stopping: AbortController;
  progress: Progress;
}

export async function runAttemptSchedule(seed: number, trace?: (line: string) => void): Promise<AttemptOutcome> {
  // Planning yields, more often on a busy machine.
  const world = new World(seed, 8);
  const say = (line: string) => trace?.(`${String(world.now - world.startedAt).padStart(7)} ${line}`);
  const store = await emptyStore(() => world.now);
  const violations: string[] = [];
  let isCalm = false;
  const weather = { loss: world.pick([0, 0.05, 0.2]), pauses: world.chance(0.6), crashes: world.chance(0.6) };
  let attempts = 0;

  const workspaces = ['acme', 'beta', 'gamma'].slice(0, world.between(2, 3));
  const destinations = new Map<string, Destination>();
  /** The last state that a desk said was stored, and with which epoch. */
  const confirmed = new Map<string, { next: number; epoch: number }>();
  await seedConnections();

  async function seedConnections(): Promise<void> {
    const { db } = store;
    const times = { created_at: 0, deleted_at: null };
    await sql`insert or ignore into organizations (organization_id, created_at) values ('ours', 0)`.execute(db);
    for (const workspace_id of workspaces) {
      const named = { name: workspace_id, name_nfc: workspace_id, data_residency: 'eu', notifications: '{}' };
      const row = { workspace_id, organization_id: 'ours', ...named, max_concurrent_syncs: null, ...times };
      await db.insertInto('workspaces').values(row).execute();
      for (let each = 0; each < world.between(1, 3); each++) {
        const id = `${workspace_id}-${each}`;
        const definition = (slug: string) => bundledDefinitions.find((one) => one.slug === slug)?.definitionId ?? '';
        for (const [kind, slug] of [['source', 'sample-data'] as const, ['destination', 'local-files'] as const]) {
          const actor = {
            connector_id: `${kind}-${id}`,
            kind,
            workspace_id,
            definition_id: definition(slug),
            name: kind,
          };
          const more = { configuration: '""', resource_allocation: null, credential: null, is_customers_own: 0 };
          await db
            .insertInto('connectors')
            .values({ ...actor, ...more, ...times })
            .execute();
        }
        const isScheduled = world.chance(0.5);
        await db
          .insertInto('connections')
          .values({
            ...{ connection_id: id, workspace_id, source_id: `source-${id}`, destination_id: `destination-${id}` },
            ...{ name: id, status: 'active', cron_expression: isScheduled ? '0 * * * * ?' : null },
            configurations: JSON.stringify({ streams: [{ name: 'items', syncMode: 'incremental_append' }] }),
            ...{ namespace_definition: 'destination', namespace_format: null, prefix: '', tags: '[]' },
            ...{ schema_updates_behavior: 'ignore', status_reason: null, ...times },
            next_run_at: isScheduled ? world.now + world.between(1, 60) * 1_000 : null,
          })
          .execute();
        destinations.set(id, new Destination());
      }
    }
  }

  const keyOf = ({ jobId, attempt }: Pick<Assignment, 'jobId' | 'attempt'>) => `${jobId} ${attempt}`;
  /** As its owner knows. */
  const leasedUntil = new Map<string, number>();
  /** Attempts that an owner has ended, and those that are being performed. */
  const ended = new Set<string>();
  const performing = new Map<string, Assignment>();
  const isAlive = (key: string, at: number) => at < (leasedUntil.get(key) ?? 0);

  const workerClaimants: (Claimant & { machine: Machine })[] = [];
  let made = 0;

  /** Its transactions take effect as a whole or not at all, whenever it crashes. */
  function storeOf(machine: Machine): Store {
    const check = () => {
      if (machine.isDown) throw new Crashed();
    };
    return {
      ...store,
      async transaction(work) {
        check();
        const result = await store.transaction(work);
        check();
        return result;
      },
    };
  }

  function startCoordinator(): Coordinator {
    const machine = new Machine(world);
    const own = storeOf(machine);
    const runtime = {
      now: () => world.now,
      elapsed: () => world.now,
      sleep: (ms: number) => machine.sleep(ms),
      newId: () => world.newId(),
    };
    const definitions = { store: own, runtime, bundledDefinitions };
    const ctx = {
      store: own,
      runtime,
      actors: { store: own, runtime, definitions, credentials: undefined },
      workers: {
        whyNotHere: async () => () => undefined,
        list: async () => workerClaimants.filter((worker) => !worker.machine.isDown),
      },
      ...{ maxConcurrentSyncs: world.between(0, 2), maxConcurrentSyncsPerWorkspace: perWorkspace },
      ...{ maxWaitingPerWorkspace: 50, maxAttemptMs: 300_000, maxJobMs: 3_600_000, turnMs: 30_000 },
      ...{ onWaited() {}, onValuesChanged() {}, onJobsChanged() {}, wake() {} },
      logs: {
        open: () => ({ write() {}, flush: async () => {}, close() {} }),
        remove: async () => {},
      },
      log: { info() {}, warn() {}, error() {} },
    } as unknown as JobsContext;
    const coordinator = { machine, name: `coordinator-${++made}`, ctx };
    coordinators.push(coordinator);
    live(machine, () => coordinate(coordinator));
    return coordinator;
  }

  const coordinators: Coordinator[] = [];
  const anyCoordinator = () => {
    const up = coordinators.filter(({ machine }) => !machine.isDown);
    return up.length === 0 ? undefined : world.pick(up);
  };

  function live(machine: Machine, life: () => Promise<void>): void {
    life().catch((error) => {
      if (!(error instanceof Crashed) || !machine.isDown)
        violations.push(`P0: a process failed: ${(error as Error).stack}`);
    });
  }

  async function coordinate({ machine, name, ctx }: Coordinator): Promise<void> {
    const active = new Map<number, Active>();
    const slots = ctx.maxConcurrentSyncs;
    for (;;) {
      const row = { name, seen_at: world.now, encryption_keys: '', version: '1', slots };
      await ctx.store.transaction((tx) =>
        tx
          .insertInto('coordinators')
          .values(row)
          .onConflict((on) => on.column('name').doUpdateSet(row))
          .execute(),
      );
      await renew(ctx, name, active, restMs);
      await putBackAbandoned(ctx);
      if (world.chance(0.1)) await judgeTimes(ctx);
      await queueDueJobs(ctx);
      while (active.size < slots) {
        const assignment = await claimAttempt(ctx, { owner: name, slots });
        if (!assignment) break;
        perform(machine, name, assignment, active, (call) => call(ctx));
      }
      await makeRoom(ctx);
      await machine.sleep(isCalm ? 2 * lookEveryMs : lookEveryMs);
    }
  }

  async function renew(
    ctx: JobsContext,
    owner: string,
    active: ReadonlyMap<number, Active>,
    restMs = 0,
  ): Promise<void> {
    const beats: Beat[] = [...active.values()].map(({ ref, progress }) => ({ ref, progress }));
    const renewed = await renewAttempts(ctx, owner, beats, restMs);
    await noteLeases(owner, active);
    for (const { ref, stop } of renewed) {
      if (!stop) continue;
      say(`${owner}: job ${ref.jobId} must stop: ${stop}`);
      active.get(ref.jobId)?.stopping.abort(stop);
    }
  }

  async function noteLeases(owner: string, active: ReadonlyMap<number, Active>): Promise<void> {
    const held = await store.db
      .selectFrom('jobs')
      .select(['epoch', 'lease_until'])
      .where('owner', '=', owner)
      .execute();
    const leases = new Map(held.map(({ epoch, lease_until }) => [epoch, lease_until]));
    for (const { ref } of active.values())
      leasedUntil.set(keyOf(ref), leases.get(ref.epoch) ?? leasedUntil.get(keyOf(ref)) ?? 0);
  }

  /** How an owner reaches a coordinator. */
  type Reach = <T>(call: (ctx: JobsContext) => Promise<T>) => Promise<T>;

  function perform(machine: Machine, owner: string, ref: Assignment, active: Map<number, Active>, reach: Reach): void {
    say(`${owner}: claims job ${ref.jobId} of ${ref.connectionId}, attempt ${ref.attempt}`);
    attempts++;
    for (const [key, other] of performing) {
      if (other.connectionId !== ref.connectionId || !isAlive(key, world.now)) continue;
      violations.push(`A4: ${ref.connectionId} is being moved by two at once`);
    }
    performing.set(keyOf(ref), ref);
    // An epoch is the time of its claim, or little more.
    leasedUntil.set(keyOf(ref), ref.epoch + leaseMs - 1_000);
    const stopping = new AbortController();
    const current: Active = { ref, stopping, progress: { records: 0, bytes: 0 } };
    active.set(ref.jobId, current);
    const off = world.between(-10, 10) * 3_600_000;
    const attempt = runAttempt(deskOf(machine, owner, current, reach), {
      runner: runnerOf(machine, ref),
      runtime: { now: () => world.now + off },
      signal: stopping.signal,
      trace: { traceId: '0', spanId: '0', flags: 0 },
      onFault(error) {
        if (!(error instanceof NetworkError || error instanceof Crashed))
          violations.push(`P1: ${(error as Error).stack}`);
      },
    });
    attempt
      .catch((error) => {
        if (!(error instanceof NetworkError || error instanceof Crashed))
          violations.push(`P2: ${(error as Error).stack}`);
      })
      .finally(() => {
        active.delete(ref.jobId);
        performing.delete(keyOf(ref));
      });
  }

  /** Every call may reach another coordinator. */
  function deskOf(machine: Machine, owner: string, current: Active, reach: Reach): Desk {
    const { ref } = current;
    const at = <T>(name: string, call: (desk: StoreDesk) => Promise<T>): Promise<T> =>
      reach(async (ctx) => {
        const desk = await openDesk(ctx, ref, owner);
        const result = await call(desk);
        say(`${owner}: job ${ref.jobId} ${name}`);
        return result;
      });
    return {
      assignment: ref,
      log: { write() {} },
      progress(progress) {
        current.progress = progress;
      },
      useConnector: (kind, _options, work) => work({ kind } as ConfiguredConnector),
      plan: (discovered) => at('plan', (desk) => desk.plan(discovered)),
      planClearing: () => at('plan', (desk) => desk.planClearing()),
      planAnew: (lost) => at('plan anew', (desk) => desk.planAnew(lost)),
      keepHeld: (stream, held) => at('held', (desk) => desk.keepHeld(stream, held)),
      keepState: (state, text) =>
        at(`state ${text}`, async (desk) => {
          await desk.keepState(state, text);
          noteConfirmed(ref, nextIn(text));
        }),
      keepConfiguration: (kind, configuration) =>
        at('configuration', (desk) => desk.keepConfiguration(kind, configuration)),
      async finish(report) {
        // What reaches nobody is tried again as long as the lease may be alive.
        const until = world.now + leaseMs;
        for (;;) {
          try {
            return await at(`finish ${report.status}`, async (desk) => {
              await desk.finish(report);
              ended.add(keyOf(ref));
              // Its connectors are gone, whether it gets an answer or not.
              performing.delete(keyOf(ref));
            });
          } catch (error) {
            if (!(error instanceof NetworkError) || world.now > until) throw error;
            await machine.sleep(1_000);
          }
        }
      },
    };
  }

  const nextIn = (text: string | undefined): number =>
    text === undefined
      ? 0
      : (((JSON.parse(text) as State).stream?.stream_state as { next: number } | undefined)?.next ?? 0);

  function noteConfirmed({ connectionId, epoch }: Assignment, next: number): void {
    const before = confirmed.get(connectionId);
    if (before && epoch < before.epoch) violations.push(`A1: ${connectionId} keeps a state of an epoch that is over`);
    if (before && next < before.next) violations.push(`A2: a confirmed state of ${connectionId} was lost`);
    confirmed.set(connectionId, { next, epoch });
  }

  /** Reads rows from the state on, and confirms each state once its rows are committed. */
  function runnerOf(machine: Machine, { connectionId }: Assignment): Runner {
    const destination = destinations.get(connectionId) as Destination;
    const nothing = { records: 0, bytes: 0, streams: [], moreStreams: 0, changedValues: {} };
    const failed = (message: string): SyncOutcome => ({
      ...nothing,
      status: 'failed',
      failure: { origin: 'destination', type: 'transient_error', message },
      arrived: { records: 0, bytes: 0 },
    });
    const runner: Partial<Runner> = {
      async discover() {
        await machine.sleep(world.between(10, 2_000));
        return catalog;
      },
      async sync({ state, writer, signal, keepState, onProgress }) {
        const epoch = writer?.epoch ?? 0;
        if (!destination.begin(epoch)) return failed('A later attempt has taken over.');
        const end = nextIn(state[0]) + rowsOfSource;
        for (let next = nextIn(state[0]); next < end; ) {
          await machine.sleep(world.between(100, 6_000));
          if (signal?.aborted) {
            // What was sent may arrive after its process is gone.
            const late = [next, next + 1];
            if (world.chance(0.5)) world.at(world.between(0, 60_000), () => destination.commit(epoch, late));
            return { ...nothing, status: 'cancelled', arrived: { records: next, bytes: 0 } };
          }
          if (!isCalm && world.chance(0.03)) return failed('The line was cut.');
          if (!destination.commit(epoch, [next, next + 1])) return failed('A later attempt has taken over.');
          next += 2;
          await machine.sleep(world.between(0, 3_000));
          const kept: State = {
            type: 'STREAM',
            stream: { stream_descriptor: { name: 'items' }, stream_state: { next } },
          };
          try {
            await keepState(kept, JSON.stringify(kept));
          } catch (error) {
            if (error instanceof Crashed) throw error;
            return failed('The state could not be kept.');
          }
          onProgress?.({ records: next, bytes: next });
        }
        return { ...nothing, status: 'succeeded', records: end, bytes: end };
      },
    };
    return runner as Runner;
  }

  function startWorker(): void {
    const machine = new Machine(world);
    const owner = `worker-${++made}`;
    const slots = world.between(1, 2);
    const active = new Map<number, Active>();
    workerClaimants.push({ owner, slots, machine });
    let heardAt = world.now;
    const reach: Reach = async (call) => {
      for (let tries = 0; ; tries++) {
        try {
          await machine.sleep(world.between(1, 200));
          if (!isCalm && world.chance(weather.loss)) throw new NetworkError();
          const ctx = anyCoordinator()?.ctx;
          if (!ctx) throw new NetworkError();
          const answer = await call(ctx).catch((error) => {
            throw error instanceof Crashed && !machine.isDown ? new NetworkError() : error;
          });
          if (!isCalm && world.chance(weather.loss)) throw new NetworkError();
          heardAt = world.now;
          return answer;
        } catch (error) {
          if (!(error instanceof NetworkError) || tries >= 3) throw error;
        }
      }
    };
    const quietly = async (call: () => Promise<void>) => {
      await call().catch((error) => {
        if (!(error instanceof NetworkError)) throw error;
      });
    };
    live(machine, async () => {
      for (;;) {
        await quietly(() => reach((ctx) => renew(ctx, owner, active)));
        if (world.now - heardAt > deafAfterMs) {
          for (const { stopping } of active.values()) stopping.abort('lost');
        }
        await machine.sleep(heartbeatEveryMs - 1_000);
      }
    });
    live(machine, async () => {
      for (;;) {
        await quietly(async () => {
          if (active.size >= slots) return;
          const assignment = await reach((ctx) => claimAttempt(ctx, { owner, slots }));
          if (assignment) perform(machine, owner, assignment, active, reach);
        });
        await machine.sleep(world.between(500, 3_000));
      }
    });
  }

  for (let each = world.between(1, 3); each > 0; each--) startCoordinator();
  for (let each = world.between(1, 3); each > 0; each--) startWorker();

  const user = new Machine(world);
  live(user, async () => {
    while (!isCalm) {
      await user.sleep(world.between(1_000, 15_000));
      const ctx = anyCoordinator()?.ctx;
      if (!ctx) continue;
      const connectionId = world.pick([...destinations.keys()]);
      try {
        if (world.chance(0.8)) await createJob(ctx, { connectionId, jobType: 'sync' }, undefined);
        else {
          const open = await store.db.selectFrom('jobs').select('job_id').where('ended_at', 'is', null).execute();
          if (open.length > 0) await cancelJob(ctx, world.pick(open).job_id);
        }
      } catch (error) {
        if (!(error instanceof Problem || error instanceof Crashed)) throw error;
      }
    }
  });
  live(user, async () => {
    while (!isCalm) {
      await user.sleep(world.between(5_000, 40_000));
      const machines = [...coordinators, ...workerClaimants].filter(({ machine }) => !machine.isDown);
      const { machine } = world.pick(machines);
      if (weather.pauses && world.chance(0.6)) machine.pause(world.between(1_000, 90_000));
      else if (weather.crashes) {
        machine.isDown = true;
        if (coordinators.some((one) => one.machine === machine)) startCoordinator();
        else startWorker();
      }
    }
  });

  await world.run(world.startedAt + stormMs);
  isCalm = true;
  // Somebody has to run what is left.
  startWorker();
  const unscheduled = { next_run_at: null, cron_expression: null };
  await store.db.updateTable('connections').set(unscheduled).execute();
  await world.run(world.startedAt + stormMs + calmMs);
  for (const { machine } of [...coordinators, ...workerClaimants]) machine.isDown = true;
  await judge();
  // Whoever sleeps wakes up and finds that it is gone.
  await world.run(world.now + 200_000);

  async function judge(): Promise<void> {
    const { db } = store;
    const jobs = await db.selectFrom('jobs').selectAll().execute();
    for (const job of jobs.filter(({ ended_at }) => ended_at === null)) {
      violations.push(`A3: job ${job.job_id} of ${job.connection_id} waits for ever (${job.status})`);
    }
    const { rows: seen } = await sql<Record<string, number> & { connection_id: string }>`select * from seen`.execute(
      db,
    );
    const slotsOf = new Map([
      ...coordinators.map(({ name, ctx }) => [name, ctx.maxConcurrentSyncs] as const),
      ...workerClaimants.map(({ owner, slots }) => [owner, slots] as const),
    ]);
    const { rows: interrupted } = await sql<{ at: number; job_id: number; attempt: number }>`
      select * from interrupted`.execute(db);
    for (const { at, job_id: jobId, attempt } of interrupted) {
      const key = keyOf({ jobId, attempt });
      if (!ended.has(key) && isAlive(key, at)) violations.push(`A9: job ${jobId} was taken from an owner that lives`);
    }
    const epochs = new Map<string, number>();
    for (const claim of seen) {
      const { connection_id, of_connection = 0, of_workspace = 0, of_owner = 0, fewest, epoch = 0 } = claim;
      if (of_connection > 1) violations.push(`A4: ${connection_id} has ${of_connection} attempts at once`);
      if (of_workspace > perWorkspace) violations.push(`A5: a workspace has ${of_workspace} attempts at once`);
      if (of_owner > (slotsOf.get(String(claim.owner)) ?? 0))
        violations.push(`A5: ${claim.owner} has ${of_owner} attempts`);
      if (fewest != null && of_workspace - 1 > fewest) violations.push('A6: a workspace got a slot out of its turn');
      if (epoch <= (epochs.get(connection_id) ?? 0)) violations.push(`A1: an epoch of ${connection_id} did not grow`);
      epochs.set(connection_id, epoch);
    }
    const runs = jobs.filter(({ trigger_kind }) => trigger_kind === 'schedule');
    const times = runs.map((job) => `${job.connection_id} ${Math.floor(job.created_at / 60_000)}`);
    if (new Set(times).size < times.length) violations.push('A7: a schedule fired twice at one time');
    for (const [connectionId, destination] of destinations) {
      const { commits, rows } = destination;
      if (commits.some((epoch, index) => epoch < (commits[index - 1] ?? 0))) {
        violations.push(`A8: ${connectionId} stored rows of an epoch that was over`);
      }
      const next = confirmed.get(connectionId)?.next ?? 0;
      for (let row = 0; row < next; row++) {
        if (!rows.has(row)) violations.push(`A2: row ${row} of ${connectionId} was confirmed and is not there`);
      }
    }
  }

  const { length: succeeded } = await store.db
    .selectFrom('jobs')
    .select('job_id')
    .where('status', '=', 'succeeded')
    .execute();
  const fenced = [...destinations.values()].reduce((sum, one) => sum + one.fenced, 0);
  return { violations: [...new Set(violations)], attempts, succeeded, fenced };
}
