/**
 * Workers on machines of their own, several coordinators, one PostgreSQL, and everything that happens to them. What always
 * holds: every row is at the destination once, the counts of jobs are true, every job ends, and no connector of a running
 * machine outlives its lease by five seconds.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Fleet, leaseMs, startFleet, type Worker } from './fleet.ts';

const graceMs = 5_000;

async function fleetOf(size: Parameters<typeof startFleet>[0]): Promise<Fleet> {
  const fleet = await startFleet(size);
  onTestFinished(() => fleet.stop(), 120_000);
  return fleet;
}

/** Rows of a sync that takes about `seconds`. */
const paced = (seconds: number, rowsPerSecond = 2_000) => ({ rows: seconds * rowsPerSecond, rowsPerSecond });

/**
 * Exactly once, however a sync was broken off. Where rows are appended, those behind the last state come again after a sync
 * that was ended in an orderly way; nothing of a sync that was cut off may, so most tests append.
 */
const deduplicated = 'incremental_deduped_history';

async function expectEachRowOnce(fleet: Fleet, name: string, rows: number): Promise<void> {
  const [found] = await fleet.query<{ all: number; distinct: number; highest: number }>(
    `select count(*)::int as all, count(distinct id)::int as distinct, max(id)::int as highest from "${name}".users`,
  );
  expect({ name, ...found }).toEqual({ name, all: rows, distinct: rows, highest: rows });
}

async function until(what: string, isSo: () => boolean | Promise<boolean>, patienceMs = 60_000): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Not within ${patienceMs} ms: ${what}`);
    await delay(100);
  }
}

/** The worker that runs connectors now; there is one sync at a time. */
async function busyWorker(fleet: Fleet): Promise<Worker> {
  const busy = () => fleet.workers.find((worker) => worker.connectors().length >= 2);
  await until('a worker runs the sync', () => busy() !== undefined);
  return busy() as Worker;
}

const hasRows = (fleet: Fleet, name: string, least: number) => async () => {
  const [{ there }] = (await fleet.query<{ there: boolean }>(
    `select to_regclass('"${name}".users') is not null as there`,
  )) as [{ there: boolean }];
  if (!there) return false;
  const [row] = await fleet.query<{ all: number }>(`select count(*)::int as all from "${name}".users`);
  return (row?.all ?? 0) >= least;
};

/** No connector of that worker is left by the end of its lease and some seconds. */
async function expectEndInTime(worker: Worker): Promise<void> {
  await until(
    `the connectors of ${worker.machine.name} end`,
    () => worker.connectors().length === 0,
    leaseMs + graceMs,
  );
}

/** The process has ended, and its connectors with it. */
async function expectNoneLeft(worker: Worker): Promise<void> {
  await until(`the connectors of ${worker.machine.name} end`, () => worker.connectors().length === 0, graceMs);
}

describe('A sync on a worker', () => {
  const amount = paced(40);

  async function syncWhile(
    { workers, mode }: { workers: number; mode?: string },
    disturb: (fleet: Fleet, worker: Worker) => Promise<void>,
  ) {
    const fleet = await fleetOf({ coordinators: 2, slots: 2, workers });
    const connectionId = await fleet.connect('one', { ...amount, ...(mode && { mode }) });
    const during = async () => {
      const worker = await busyWorker(fleet);
      await until('rows arrive', hasRows(fleet, 'one', 1));
      await disturb(fleet, worker);
    };
    const [job] = await fleet.sync([connectionId], { during });
    expect(job).toMatchObject({ status: 'succeeded' });
    await expectEachRowOnce(fleet, 'one', amount.rows);
    return { fleet, job };
  }

  it('goes on where it is when a cable was pulled for less than the lease', async () => {
    const { job } = await syncWhile({ workers: 2 }, async (_fleet, { machine }) => {
      machine.pull();
      await delay(8_000);
      machine.plug();
    });
    expect(job).toMatchObject({ attempts: 1, rowsSynced: amount.rows });
  });

  it('continues elsewhere when a cable was pulled for longer, and what the first one still sends counts for nothing', async () => {
    const { job } = await syncWhile({ workers: 2 }, async (_fleet, worker) => {
      worker.machine.pull();
      await expectEndInTime(worker);
      await delay(leaseMs);
      worker.machine.plug();
    });
    expect(job).toMatchObject({ attempts: 2, failedAttempts: 0 });
  });

  it('survives a connection that is half open: bytes to the destination arrive after the next attempt began', async () => {
    const { fleet } = await syncWhile({ workers: 2 }, async ({ front, destinationFront }, worker) => {
      front.setWeather({ kind: 'silent' });
      destinationFront.setWeather({ kind: 'silent' });
      await expectEndInTime(worker);
      front.setWeather({ kind: 'fair' });
      await delay(leaseMs / 3);
      destinationFront.setWeather({ kind: 'fair' });
    });
    expect(fleet.destinationFront.heldBytes).toBeGreaterThan(0);
  });

  it('does not mind a slow network', async () => {
    const { job } = await syncWhile({ workers: 1 }, async ({ front }) => front.setWeather({ kind: 'slow', ms: 1_500 }));
    expect(job).toMatchObject({ attempts: 1 });
  });

  it.each([
    { signal: 'SIGKILL', mode: 'incremental_append' },
    { signal: 'SIGTERM', mode: deduplicated },
  ] as const)('continues on another worker after $signal', async ({ signal, mode }) => {
    const { job } = await syncWhile({ workers: 2, mode }, async (_fleet, worker) => {
      await worker.end(signal);
      await expectNoneLeft(worker);
    });
    expect(job).toMatchObject({ attempts: 2, failedAttempts: 0 });
  });

  it('leaves no connector behind when its worker is stopped for longer than the lease', async () => {
    const { job } = await syncWhile({ workers: 2 }, async (_fleet, worker) => {
      process.kill(worker.pid as number, 'SIGSTOP');
      await expectEndInTime(worker);
      await delay(leaseMs / 3);
      process.kill(worker.pid as number, 'SIGCONT');
    });
    expect(job).toMatchObject({ attempts: 2, failedAttempts: 0 });
  });

  it('goes on while each coordinator is killed and started again', async () => {
    const { job } = await syncWhile({ workers: 1 }, async ({ coordinators }) => {
      for (const coordinator of coordinators) {
        await coordinator.service?.kill();
        await delay(2_000);
        await coordinator.start();
      }
    });
    expect(job).toMatchObject({ attempts: 1, failedAttempts: 0 });
  });

  it('goes on when PostgreSQL was killed', async () => {
    const { job } = await syncWhile({ workers: 1 }, async ({ postgres }) => {
      process.kill(postgres.pid as number, 'SIGKILL');
      await delay(1_000);
      await postgres.restart();
    });
    // The destination is on the same server: the sync itself is broken off and tried again.
    expect(job.attempts).toBeGreaterThanOrEqual(1);
  });
});

describe('Three coordinators, eight workers and many connections', () => {
  it('move every row once through a rolling restart of everything', async () => {
    const count = Number(process.env.INLAY_FLEET_CONNECTIONS ?? 500);
    const fleet = await fleetOf({ coordinators: 3, workers: 8, slots: 2 });
    const names = Array.from({ length: count }, (_, index) => `c${index}`);
    const ids: string[] = [];
    for (const name of names)
      ids.push(await fleet.connect(name, { rows: 500, rowsPerSecond: 200, mode: deduplicated }));
    const jobs = await fleet.sync(ids, {
      during: async () => {
        for (const coordinator of fleet.coordinators) {
          await coordinator.service?.stop();
          await coordinator.start();
        }
        for (const [index, worker] of fleet.workers.entries()) {
          await worker.end(index % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
          await expectNoneLeft(worker);
          await worker.start();
        }
        process.kill(fleet.postgres.pid as number, 'SIGKILL');
        await fleet.postgres.restart();
        fleet.workers[0]?.machine.pull();
        await delay(leaseMs + graceMs);
        fleet.workers[0]?.machine.plug();
      },
    });
    expect(jobs.filter(({ status }) => status !== 'succeeded')).toEqual([]);
    console.log(`${jobs.length} jobs in ${jobs.reduce((sum, { attempts }) => sum + attempts, 0)} attempts`);
    for (const name of names) await expectEachRowOnce(fleet, name, 500);
  });
});
