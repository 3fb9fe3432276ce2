/**
 * A worker: claims attempts from a coordinator, runs them with connectors on this machine, and hands back what it can't finish. It
 * has no database, no open port and no disk that it shares with anyone.
 *
 * Invariants: an attempt runs only under a lease that a heartbeat has renewed; every process it started is gone before that lease
 * ends (heart.ts, warden.ts), and what an earlier run of this worker left behind is ended before anything is claimed
 * (running-folder.ts). An attempt that this worker gives up ends after its last confirmed state and isn't a failure.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import { tryLock } from '@inlay/database/file-lock';
import { BoundedMap } from '@inlay/schedule/bounded-map';
import { runAttempt } from '../attempts/attempt.ts';
import { type AttemptRef, StaleAttempt, type Stop } from '../attempts/desk.ts';
import type {
  AnswerOf,
  ClaimAnswer,
  GivenAssignment,
  GivenConnector,
  GivenTask,
  TaskAnswer,
  WorkerClaim,
  WorkerHeartbeat,
} from '../attempts/worker-messages.ts';
import { longestClaimMs, workerProtocol } from '../attempts/worker-terms.ts';
import type { Log } from '../log.ts';
import type { ConnectorLimits } from '../processes/limits.ts';
import { catalogText } from '../runner/catalog-text.ts';
import { createRunner, type RunnerOptions } from '../runner/create-runner.ts';
import { connectorProgram, type Launch, type ProgramSurroundings } from '../runner/programs.ts';
import { type ConfiguredConnector, type Progress, RunFailure, type Runner } from '../runner/runner.ts';
import { openRunningFolder } from '../running-folder.ts';
import type { Runtime } from '../runtime.ts';
import { passingTracer, readTraceparent, watchProcesses } from '../tracing.ts';
import { CoordinatorClient, WorkerRefused } from './coordinator-client.ts';
import { type FromHeart, type HeartSettings, runHeart, type ToHeart } from './heart.ts';
import { httpDesk } from './http-desk.ts';
import { joinCoordinator } from './identity.ts';

export interface WorkerOptions {
  /** The base of the platform's API, without a slash at the end. */
  url: string;
  token: string | undefined;
  dataDir: string;
  version: string;
  slots: number;
  /** The built program of the bundled connectors, and which ones it has: `source:file@1.0.0`. */
  connectorsProgram: string;
  bundledConnectors: readonly string[];
  /** Programs that this machine has, by the name of the connector. */
  commands: Readonly<Record<string, readonly [string, ...string[]]>>;
  /** Images that this machine may start, by digest. */
  images: readonly string[];
  limits: ConnectorLimits;
  /** The built programs of the heart and the warden. Without them the heart beats in this thread and nobody guards. */
  guards?: { heart: string; warden: string };
  runner?: Partial<RunnerOptions>;
  /** Only tests have it shorter. */
  heartbeatEveryMs?: number;
  runtime: Runtime;
  log: Log;
}

export interface RunningWorker {
  /** Over when the worker has ended; rejects when the coordinator has refused it. */
  readonly ended: Promise<void>;
  /** Hands back what runs, and ends. */
  stop(): Promise<void>;
}

const firstPauseMs = 1_000;
const longestPauseMs = 15_000;
const drainPauseMs = 5_000;
const manifestsKept = 100;
/** Beside the slots of syncs: somebody waits for the answer to a question. */
const taskSlots = 2;

interface Active {
  ref: AttemptRef;
  progress: Progress | undefined;
  stopping: AbortController;
  /** The attempt is someone else's. */
  gone: AbortController;
  confirmed: PromiseWithResolvers<boolean>;
  done: Promise<void>;
}

type PromiseWithResolvers<T> = { promise: Promise<T>; resolve(value: T): void };

export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { runtime, log, dataDir, slots, url, version } = options;
  const closing = new AbortController();
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // Two with one identity would take attempts from each other.
  const lock = tryLock(join(dataDir, 'worker.lock'));
  if (!lock) throw new WorkerRefused(`Another worker is running with the data directory ${dataDir}.`);
  const running = await openRunningFolder(join(dataDir, 'running'), runtime, log);
  const authorization = await joinCoordinator({ ...options, signal: closing.signal });
  const client = new CoordinatorClient({ url, authorization, sleep: runtime.sleep });
  const runner: Runner = createRunner({
    limits: options.limits,
    ...options.runner,
    ...{ folder: running.path, mark: running.mark, cgroup: running.cgroup, runtime },
    watchProcess: watchProcesses(passingTracer(runtime)),
  });
  const active = new Map<number, Active>();
  const tasks = new Map<string, AbortController>();
  const manifests = new BoundedMap<string, string>(manifestsKept);
  const connectors = [
    ...options.bundledConnectors,
    ...Object.keys(options.commands).map((name) => `command:${name}`),
    ...options.images.map((image) => `image:${image}`),
  ];
  let isDraining = false;
  /** Until the coordinator knows that nothing of an earlier run is left. */
  let isFresh = true;
  const known = withResolvers<void>();
  let refused: Error | undefined;
  let wakeClaims = new AbortController();

  const machine = () => ({ protocol: workerProtocol, version, slots, freeSlots: Math.max(0, slots - active.size) });
  const heart = startHeart(options, { authorization, running }, hear);
  const tellHeart = (beatNow = false) => {
    const attempts = [...active.values()].map(({ ref, progress }) => ({ ...ref, ...(progress && { progress }) }));
    const body: WorkerHeartbeat = { ...machine(), attempts, tasks: [...tasks.keys()], isFresh };
    heart.post({ type: 'state', body, beatNow });
  };
  tellHeart(true);

  function hear(message: FromHeart): void {
    if (message.type === 'beat') heed(message);
    else if (message.type === 'are you alive') heart.post({ type: 'alive' });
    else if (message.type === 'refused') refuse(message.message);
    else if (message.type === 'unguarded') refuse('The process that guards the connectors has ended.');
    else {
      log.warn({}, 'Nothing heard from the coordinator; ending all syncs before their leases end');
      giveUpAll();
    }
  }

  function heed({ refs, tasks: asked, answer }: Extract<FromHeart, { type: 'beat' }>): void {
    if (isFresh) {
      isFresh = false;
      tellHeart();
      known.resolve();
    }
    setDraining(answer.isDraining);
    for (const id of asked) if (!(answer.tasks ?? []).includes(id)) tasks.get(id)?.abort();
    for (const [index, ref] of refs.entries()) {
      const current = active.get(ref.jobId);
      if (current?.ref.epoch !== ref.epoch) continue;
      const stop = answer.stops[index] ?? null;
      if (stop === null) current.confirmed.resolve(true);
      else stopAttempt(current, stop);
    }
  }

  function setDraining(now: boolean): void {
    if (now === isDraining) return;
    isDraining = now;
    log.info({}, now ? 'Draining: handing back syncs' : 'Taking syncs again');
    if (now) for (const current of active.values()) stopAttempt(current, 'closing');
    else wakeClaims.abort();
  }

  function stopAttempt(current: Active, stop: Stop): void {
    current.confirmed.resolve(false);
    current.stopping.abort(stop);
  }

  /** Nobody waits for what they would say. */
  function giveUpAll(): void {
    for (const asked of tasks.values()) asked.abort();
    for (const current of active.values()) {
      current.gone.abort();
      stopAttempt(current, 'lost');
    }
  }

  function refuse(message: string): void {
    refused ??= new WorkerRefused(message);
    giveUpAll();
    closing.abort();
    known.resolve();
  }

  async function claimAll(): Promise<void> {
    let pauseMs = firstPauseMs;
    await known.promise;
    while (!closing.signal.aborted) {
      wakeClaims = new AbortController();
      if (active.size >= slots && tasks.size >= taskSlots) {
        await runtime.sleep(longestPauseMs, AbortSignal.any([closing.signal, wakeClaims.signal]));
        continue;
      }
      try {
        const claim: WorkerClaim = { ...machine(), connectors, freeTasks: taskSlots - tasks.size };
        // A claim that names no free slot, or no free place for a task, is made anew as soon as there is one.
        const isFull = claim.freeSlots === 0 || claim.freeTasks === 0;
        const answer = (await client.ask('/workers/claim', claim, {
          signal: isFull ? AbortSignal.any([closing.signal, wakeClaims.signal]) : closing.signal,
          timeoutMs: longestClaimMs + 15_000,
        })) as ClaimAnswer;
        pauseMs = firstPauseMs;
        setDraining(answer.isDraining);
        if (answer.task) void answerTask(answer.task);
        else if (answer.assignment) begin(answer.assignment);
        else if (answer.isDraining) {
          await runtime.sleep(drainPauseMs, AbortSignal.any([closing.signal, wakeClaims.signal]));
        }
      } catch (error) {
        if (closing.signal.aborted) return;
        if (wakeClaims.signal.aborted) continue;
        if (error instanceof WorkerRefused) return refuse(error.message);
        log.warn({ err: error }, 'Failed to claim a sync; trying again');
        await runtime.sleep(pauseMs * (0.5 + Math.random() / 2), closing.signal);
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
      }
    }
  }

  function begin(assignment: GivenAssignment): void {
    const { jobId, attempt, epoch } = assignment;
    const current: Active = {
      ref: { jobId, attempt, epoch },
      progress: undefined,
      stopping: new AbortController(),
      gone: new AbortController(),
      confirmed: withResolvers<boolean>(),
      done: Promise.resolve(),
    };
    active.set(jobId, current);
    if (closing.signal.aborted) stopAttempt(current, 'closing');
    tellHeart(true);
    current.done = perform(assignment, current)
      .catch((err: unknown) => log.error({ err, jobId }, 'A sync ended unexpectedly'))
      .finally(() => {
        active.delete(jobId);
        tellHeart();
        wakeClaims.abort();
      });
  }

  async function perform(assignment: GivenAssignment, current: Active): Promise<void> {
    const { jobId, workspaceId } = assignment;
    const { signal } = current.stopping;
    const desk = httpDesk({
      client,
      assignment,
      runtime,
      gone: current.gone.signal,
      surroundings: surroundingsOf(assignment),
      launchOf,
      onProgress(progress) {
        current.progress = progress;
        tellHeart();
      },
    });
    // The claim may have been answered long after it was made.
    if (!(await current.confirmed.promise)) {
      if (signal.reason === 'closing') {
        await desk.finish({ status: 'stopped', stop: 'closing', arrived: { records: 0, bytes: 0 } });
      }
      return;
    }
    log.info({ jobId, workspaceId }, 'Running a sync');
    const trace = readTraceparent(assignment.traceparent, runtime);
    const onFault = (err: unknown) => log.error({ err, jobId }, 'A sync failed to run');
    await runAttempt(desk, { runner, runtime, signal, trace, onFault });
    log.info({ jobId, workspaceId }, 'A sync has ended');
  }

  /** Whoever asked may be gone in the meantime: then nobody wants the answer. */
  async function answerTask(task: GivenTask): Promise<void> {
    const { taskId, command, kind, connector: given } = task;
    const asked = new AbortController();
    tasks.set(taskId, asked);
    tellHeart(true);
    const { signal } = asked;
    try {
      const launch = await launchOf(given, async () => task.texts ?? { manifest: '' });
      const connector: ConfiguredConnector = {
        ...connectorProgram(launch, kind, surroundingsOf(task)),
        configuration: given.configuration,
        secrets: [...given.secrets, ...(given.signIn?.token.secrets ?? [])],
        // A question is short, and its token was got for it: nobody gives it another one.
        asksForTokens: false,
      };
      const answer = await taskAnswer(runner, command, connector, signal);
      await client.askUntilAnswered('/workers/task/finish', () => ({ taskId, answer }), { signal });
    } catch (err) {
      if (!signal.aborted) log.error({ err, taskId }, 'Failed to answer a question for a connector');
    } finally {
      tasks.delete(taskId);
      tellHeart();
      wakeClaims.abort();
    }
  }

  function surroundingsOf({ workspaceId, allowPrivateNetworks }: GivenTask | GivenAssignment): ProgramSurroundings {
    return {
      connectorsProgram: options.connectorsProgram,
      workspaceId,
      workspaceDir: join(dataDir, 'files', workspaceId),
      readableDirs: [],
      allowPrivateNetworks,
      serviceEndpoints: [endpointOf(url)],
      limits: options.limits,
    };
  }

  async function launchOf({ launch }: GivenConnector, ask: () => Promise<AnswerOf['manifest']>): Promise<Launch> {
    if (launch.type === 'bundled' || launch.type === 'image') return launch;
    if (launch.type === 'command') {
      const command = options.commands[launch.name];
      if (!command) throw new Error(`the coordinator named a program that this worker does not have: ${launch.name}`);
      return { type: 'command', command };
    }
    const { hash, codeHash } = launch;
    const codeFile = codeHash === undefined ? undefined : join(dataDir, 'code', `${codeHash}.mjs`);
    let manifest = manifests.get(hash);
    if (manifest === undefined || (codeHash !== undefined && !manifests.has(codeHash))) {
      const texts = await ask();
      if (hashOf(texts.manifest) !== hash) throw new Error('the coordinator sent another manifest than it named');
      manifest = texts.manifest;
      if (codeFile !== undefined && codeHash !== undefined) {
        if (hashOf(texts.code ?? '') !== codeHash) throw new Error('the coordinator sent other code than it named');
        keepFile(codeFile, texts.code ?? '');
        manifests.set(codeHash, '');
      }
      // A secret may be written into a manifest, so it is kept in memory alone.
      manifests.set(hash, manifest);
    }
    return { type: 'manifest', manifest, ...(codeFile !== undefined && { componentsFile: codeFile }) };
  }

  const claiming = claimAll();
  const ended = (async () => {
    await claiming;
    runner.closeSoon();
    for (const asked of tasks.values()) asked.abort();
    for (const current of active.values()) stopAttempt(current, 'closing');
    await Promise.all([...active.values()].map(({ done }) => done));
    await heart.stop();
    running.remove();
    lock.close();
    if (refused) throw refused;
  })();
  // Whoever started the worker waits for it.
  ended.catch(() => {});
  return {
    ended,
    async stop() {
      closing.abort();
      known.resolve();
      await ended.catch((error) => {
        if (!(error instanceof StaleAttempt)) throw error;
      });
    },
  };
}

function startHeart(
  { url, guards, heartbeatEveryMs: everyMs }: WorkerOptions,
  { authorization, running }: { authorization: string; running: { mark: string; cgroup: string | undefined } },
  hear: (message: FromHeart) => void,
) {
  const { mark, cgroup } = running;
  const settings: HeartSettings = {
    ...{ url, authorization },
    ...(everyMs !== undefined && { everyMs }),
    ...(guards && {
      warden: { program: process.execPath, args: [guards.warden, mark, ...(cgroup === undefined ? [] : [cgroup])] },
    }),
  };
  if (!guards) {
    const { port1, port2 } = new MessageChannel();
    port1.on('message', hear);
    const beating = runHeart(port2, settings);
    return portOf(port1, () => beating);
  }
  const thread = new Worker(guards.heart, { workerData: { isHeart: true, settings } });
  thread.on('message', hear);
  // Without it the leases end, and the warden ends the connectors; a worker that goes on would only claim more.
  thread.on('error', (error) => {
    throw error;
  });
  const over = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  return portOf(thread, () => over);
}

function portOf(port: Pick<MessagePort, 'postMessage'>, over: () => Promise<void>) {
  const post = (message: ToHeart) => port.postMessage(message);
  return {
    post,
    async stop() {
      post({ type: 'stop' });
      await over();
    },
  };
}

async function taskAnswer(
  runner: Runner,
  command: GivenTask['command'],
  connector: ConfiguredConnector,
  signal: AbortSignal,
): Promise<TaskAnswer> {
  try {
    if (command === 'discover') {
      const text = await catalogText(await runner.discover(connector, { signal }));
      return { catalog: (await promisify(gzip)(text)).toString('base64') };
    }
    const { status: check, ...outcome } = await runner.check(connector, { signal });
    return { check, ...outcome } as TaskAnswer;
  } catch (error) {
    if (!(error instanceof RunFailure)) throw error;
    return { failure: error.failure };
  }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

function keepFile(file: string, text: string): void {
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function endpointOf(url: string) {
  const { hostname: host, port, protocol } = new URL(url);
  return { host, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
