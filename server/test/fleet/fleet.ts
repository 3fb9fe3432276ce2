/**
 * A deployment in which workers move the data: coordinators without slots of their own on one PostgreSQL, and workers on
 * machines of their own (network.ts), which reach the coordinators over https through one address (front.ts).
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Postgres, startPostgres } from '../../../scripts/postgres.mjs';
import { postgresDestination, sampleData } from '../support/pipelines.ts';
import { launch, type Service, startService } from '../support/service.ts';
import { type Front, openFront } from './front.ts';
import { type Machine, makeNetwork } from './network.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests
type Body = any;

export interface Worker {
  readonly machine: Machine;
  /** Undefined while it is down. */
  readonly pid: number | undefined;
  start(): Promise<void>;
  /** Ends the process; resolves when it is gone. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Ids of the connectors that run on the machine now. */
  connectors(): number[];
  output(): string;
}

export interface Fleet {
  readonly workers: readonly Worker[];
  readonly coordinators: readonly { service: Service | undefined; start(): Promise<void> }[];
  /** Between workers and coordinators. */
  readonly front: Front;
  /** Between connectors and their destination. */
  readonly destinationFront: Front;
  readonly postgres: Postgres;
  /** Asks any coordinator, until one answers. */
  api(method: string, path: string, body?: object): Promise<Body>;
  /** Makes a workspace with a source, a destination and a connection; the rows go to the schema of that name. */
  connect(name: string, options: { rows: number; rowsPerSecond?: number; mode?: string }): Promise<string>;
  /** Starts a sync of each connection and waits until all jobs have ended. Gives the jobs. */
  sync(connectionIds: readonly string[], options?: { during?: () => Promise<void> }): Promise<Body[]>;
  /** What the destination has. */
  query<T extends pg.QueryResultRow>(text: string): Promise<T[]>;
  stop(): Promise<void>;
}

export const leaseMs = 30_000;

const clientId = '1c9d3f7a52e84b06';
const clientSecret = 'a-secret-between-the-platform-and-the-service';

export async function startFleet(size: { coordinators: number; workers: number; slots?: number }): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-fleet-'));
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const network = await makeNetwork(size.workers);
    ends.push(() => network.remove());
    // The death of the server must not lose what it has confirmed.
    const postgres = await startPostgres({ settings: { synchronous_commit: 'on' } });
    ends.push(() => postgres.stop());
    const store = new URL(postgres.url);
    for (const name of ['platform', 'destination']) {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      await client.query(`create database ${name}`).finally(() => client.end());
    }
    const urlOf = (name: string) => Object.assign(new URL(store), { pathname: `/${name}` }).href;

    const services: { service: Service | undefined; start(): Promise<void> }[] = [];
    let turn = 0;
    const running = () => services.flatMap(({ service }) => (service ? [service] : []));
    const certificate = certify(folder, network.address);
    const front = await openFront({
      target: () => {
        const up = running();
        const next = up[turn++ % up.length];
        return next && { host: '127.0.0.1', port: next.port };
      },
      tls: certificate,
    });
    ends.push(() => front.close());
    const destinationFront = await openFront({ target: () => ({ host: store.hostname, port: Number(store.port) }) });
    ends.push(() => destinationFront.close());

    const env = {
      INLAY_PLATFORM_CLIENT_ID: clientId,
      INLAY_PLATFORM_CLIENT_SECRET: clientSecret,
      INLAY_PLATFORM_DATABASE_URL: urlOf('platform'),
      INLAY_ENCRYPTION_KEY: 'b2Zm2nT8kVwQ4yJr6sXc1uLe9pHg3aDf5iKo7mNt0vE=',
      INLAY_ALLOW_PRIVATE_NETWORKS: 'true',
      INLAY_MAX_CONCURRENT_SYNCS: '0',
      INLAY_MAX_CONCURRENT_SYNCS_PER_WORKSPACE: '2',
    };
    for (let i = 0; i < size.coordinators; i++) {
      const dataDir = await mkdtemp(join(folder, `coordinator-${i}-`));
      const one = {
        service: undefined as Service | undefined,
        async start() {
          const started = await startService({ command: 'platform', dataDir, env });
          one.service = started;
          void started.exited.then(() => {
            if (one.service === started) one.service = undefined;
          });
        },
      };
      services.push(one);
      await one.start();
      ends.push(() => one.service?.kill());
    }

    let token: string | undefined;
    async function api(method: string, path: string, body?: object): Promise<Body> {
      for (let attempt = 0; ; attempt++) {
        const up = running();
        const base = `${up[attempt % Math.max(1, up.length)]?.url}/platform/v1`;
        try {
          token ??= (
            await call(base, 'POST', '/applications/token', { client_id: clientId, client_secret: clientSecret })
          ).access_token;
          return await call(base, method, path, body, token);
        } catch (error) {
          // A creation that is repeated may make two: only reads are, and jobs, of which a connection has one at a time.
          if (attempt >= 200 || (method !== 'GET' && path !== '/jobs')) throw error;
          token = undefined;
          await delay(200);
        }
      }
    }

    const { token: enrolment } = await api('POST', '/workers', {
      name: 'fleet',
      reusable: true,
      allowPrivateNetworks: true,
    });
    const workers = network.machines.map((machine) =>
      makeWorker(machine, join(folder, machine.name), {
        INLAY_WORKER_URL: `https://${network.address}:${front.port}/platform/v1`,
        INLAY_WORKER_TOKEN: enrolment,
        INLAY_WORKER_SLOTS: String(size.slots ?? 4),
        NODE_EXTRA_CA_CERTS: certificate.file,
      }),
    );
    for (const worker of workers) ends.push(() => worker.end('SIGKILL'));
    await Promise.all(workers.map((worker) => worker.start()));

    const host = network.address;
    /** For a person who reads why a test has failed. */
    async function describe(): Promise<string> {
      const states = [await api('GET', '/workers'), await api('GET', '/jobs?limit=5')].map((state) =>
        JSON.stringify(state, null, 1),
      );
      const outputs = [...workers, ...running()].map((one) => one.output().slice(-3_000));
      return [...states, ...outputs].join('\n\n');
    }
    return {
      workers,
      coordinators: services,
      front,
      destinationFront,
      postgres,
      api,
      async connect(name, { rows, rowsPerSecond, mode = 'incremental_append' }) {
        const { workspaceId } = await api('POST', '/workspaces', { name });
        const source = await api('POST', '/sources', {
          ...{ name, workspaceId, definitionId: sampleData },
          configuration: { count: rows, ...(rowsPerSecond && { records_per_second: rowsPerSecond }) },
        });
        const destination = await api('POST', '/destinations', {
          ...{ name, workspaceId, definitionId: postgresDestination },
          configuration: {
            ...{ host, port: destinationFront.port, database: 'destination', username: 'postgres', schema: name },
            ssl_mode: { mode: 'disable' },
          },
        });
        const { connectionId } = await api('POST', '/connections', {
          ...{ name, sourceId: source.sourceId, destinationId: destination.destinationId },
          ...{ schedule: { scheduleType: 'manual' }, configurations: { streams: [{ name: 'users', syncMode: mode }] } },
        });
        return connectionId;
      },
      async sync(connectionIds, { during = async () => {} } = {}) {
        const ids: number[] = [];
        for (const connectionId of connectionIds)
          ids.push((await api('POST', '/jobs', { connectionId, jobType: 'sync' })).jobId);
        let fault: unknown;
        const over = during().catch((error: unknown) => {
          fault = error;
        });
        const jobs = new Map<number, Body>();
        while (jobs.size < ids.length && !fault) {
          for (const id of ids) {
            if (jobs.has(id)) continue;
            const job = await api('GET', `/jobs/${id}`);
            if (['succeeded', 'failed', 'cancelled'].includes(job.status)) jobs.set(id, job);
            else await delay(50);
          }
        }
        await over;
        if (fault) throw new Error(`${fault}\n${await describe()}`, { cause: fault });
        return ids.map((id) => jobs.get(id));
      },
      async query(text) {
        const client = new pg.Client({ connectionString: urlOf('destination') });
        await client.connect();
        return (await client.query(text).finally(() => client.end())).rows;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function makeWorker(machine: Machine, dataDir: string, env: Record<string, string>): Worker {
  let output = '';
  let running: ReturnType<typeof launch> | undefined;
  return {
    machine,
    get pid() {
      return running?.child.pid;
    },
    async start() {
      const started = launch(['worker'], {
        ...{ cwd: tmpdir(), env: { ...env, INLAY_DATA_DIR: dataDir } },
        place: (program, args) => machine.command(program, args),
      });
      for (const stream of [started.child.stdout, started.child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text;
        });
      running = started;
      void started.exited.then(() => {
        if (running === started) running = undefined;
      });
    },
    async end(signal) {
      running?.child.kill(signal);
      await running?.exited;
    },
    connectors: () => processesIn(dataDir),
    output: () => output,
  };
}

/** The connectors that were started with that data directory. */
function processesIn(dataDir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        return (
          variables.some((text) => text.startsWith('INLAY_RUN=')) && variables.some((text) => text.includes(dataDir))
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

function certify(folder: string, address: string): { key: string; cert: string; file: string } {
  const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const make = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=coordinators';
  const more = ['-addext', `subjectAltName=IP:${address}`, '-keyout', keyFile, '-out', file];
  execFileSync('openssl', [...make.split(' '), ...more], { stdio: 'ignore' });
  return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(file, 'utf8'), file };
}

async function call(base: string, method: string, path: string, body?: object, token?: string): Promise<Body> {
  const response = await fetch(`${base}${path}`, {
    method,
    signal: AbortSignal.timeout(20_000),
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
