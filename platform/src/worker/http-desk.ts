/**
 * The desk of an attempt whose coordinator is elsewhere. Calls are repeated until they are answered, so an attempt outlives
 * every outage that its lease outlives; when `gone` is aborted the attempt is someone else's, and every call throws StaleAttempt.
 *
 * Invariants: states are sent in order, one request at a time, each request with a higher number than those before, so that the
 * coordinator can tell a request that was delayed from one that is new. Secrets are only in memory.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Catalog } from '@inlay/protocol/protocol';
import { type Desk, type Move, StaleAttempt } from '../attempts/desk.ts';
import {
  type AnswerOf,
  type AttemptCall,
  type GivenAssignment,
  type GivenConnector,
  type GivenMove,
  type GivenToken,
  planBytes,
  type Refused,
  type RequestOf,
  readMove,
} from '../attempts/worker-messages.ts';
import { catalogText } from '../runner/catalog-text.ts';
import { connectorProgram, type Launch, type ProgramSurroundings } from '../runner/programs.ts';
import { type ConfiguredConnector, type Progress, RunDelayed, RunFailure, type SignIn } from '../runner/runner.ts';
import type { Runtime } from '../runtime.ts';
import type { CoordinatorClient } from './coordinator-client.ts';
import { RemoteLog } from './remote-log.ts';

interface HttpDeskOptions {
  client: CoordinatorClient;
  assignment: GivenAssignment;
  runtime: Runtime;
  /** Aborted when the attempt is no longer this worker's, or when nobody waits for its end. */
  gone: AbortSignal;
  surroundings: ProgramSurroundings;
  /** What starts a connector here: its program, or the text of a manifest that is asked for once. */
  launchOf(given: GivenConnector, ask: () => Promise<AnswerOf['manifest']>): Promise<Launch>;
  onProgress(progress: Progress): void;
}

type Entry = RequestOf<'checkpoint'>['entries'][number];

const batchBytes = 1_000_000;
const batchEntries = 5_000;
/** So much may wait; then the connectors wait as well. */
const waitingBytes = 8_000_000;
const slowMs = 120_000;
/** As long as a connector waits for a token whose keeper cannot be reached. */
const freshPatienceMs = 60_000;
const freshPauseMs = 2_000;

export function httpDesk(options: HttpDeskOptions): Desk {
  const { client, assignment, runtime, gone, surroundings } = options;
  const checkpoints = new Checkpoints((request) => call('checkpoint', () => request()));
  const log = new RemoteLog({
    send: (request) => call('logs', () => request),
    sleep: (ms) => runtime.sleep(ms, gone),
  });

  async function call<C extends AttemptCall>(
    name: C,
    body: () => RequestOf<C>,
    { signal = gone, maxAnswerBytes }: { signal?: AbortSignal; maxAnswerBytes?: number } = {},
  ): Promise<AnswerOf[C]> {
    const signals = signal === gone ? gone : AbortSignal.any([signal, gone]);
    try {
      return (await client.askUntilAnswered(`/workers/attempt/${name}`, body, {
        signal: signals,
        attemptToken: assignment.token,
        timeoutMs: slowMs,
        ...(maxAnswerBytes !== undefined && { maxAnswerBytes }),
      })) as AnswerOf[C];
    } catch (error) {
      if (gone.aborted) throw new StaleAttempt('the lease of the attempt has ended', { cause: error });
      throw error;
    }
  }

  async function moveOf(answer: Promise<GivenMove | Refused | { needsCatalog: true }>): Promise<Move> {
    const given = accepted(await answer);
    if ('needsCatalog' in given) throw new Error('the coordinator asked for a catalog that it was given');
    return readMove(given);
  }

  const large = { maxAnswerBytes: planBytes };

  async function signInOf(given: { token: GivenToken; fields: SignIn['fields'] }): Promise<SignIn> {
    const startedAt = runtime.now();
    const atOf = ({ expiresInMs }: GivenToken) => (expiresInMs === null ? null : runtime.now() + expiresInMs);
    let endsAt = atOf(given.token);
    const signIn: SignIn = {
      ...{ generation: given.token.generation, expiresAt: endsAt, startedAt, values: given.token.values },
      ...{ fields: given.fields, handsOver: false },
      async fresh({ notGeneration }) {
        const needsIt = notGeneration !== undefined || (endsAt !== null && endsAt <= runtime.now());
        const giveUpAt = runtime.elapsed() + (needsIt ? freshPatienceMs : 0);
        for (;;) {
          const answer = await call('token', () => (notGeneration === undefined ? {} : { notGeneration }));
          if (!('failure' in answer)) {
            endsAt = atOf(answer);
            signIn.delay = undefined;
            return { generation: answer.generation, expiresAt: endsAt, values: answer.values, secrets: answer.secrets };
          }
          if (answer.isDelay && runtime.elapsed() < giveUpAt) {
            await runtime.sleep(freshPauseMs, gone);
            continue;
          }
          if (answer.isDelay && needsIt) signIn.delay = answer.failure;
          throw thrown(answer);
        }
      },
      // Only a connector that refreshes tokens itself has any to take back, and none does on a worker.
      takeBack: async () => {},
    };
    return signIn;
  }

  return {
    assignment,
    log,
    async useConnector(kind, { signal, forMs }, work) {
      const request = { kind, ...(forMs !== undefined && { forMs }) };
      const given = accepted(await call('connector', () => request, { signal }));
      const launch = await options.launchOf(given, () => call('manifest', () => ({ kind }), { signal, ...large }));
      const signIn = given.signIn && (await signInOf(given.signIn));
      const connector: ConfiguredConnector = {
        ...connectorProgram(launch, kind, surroundings),
        rowBlocks: given.rowBlocks,
        configuration: given.configuration,
        secrets: [...given.secrets, ...(given.signIn?.token.secrets ?? [])],
        ...(signIn && { signIn }),
      };
      try {
        return await work(connector);
      } catch (error) {
        // A failure of a run that waited for a fresh token in vain only follows from that.
        if (error instanceof RunFailure && signIn?.delay) throw new RunDelayed(signIn.delay);
        throw error;
      }
    },
    async plan(catalog: Catalog) {
      const text = await catalogText(catalog);
      const hash = createHash('sha256').update(text).digest('hex');
      const answer = accepted(await call('plan', () => ({ hash }), large));
      if (!('needsCatalog' in answer)) return readMove(answer);
      const packed = (await promisify(gzip)(text)).toString('base64');
      return await moveOf(call('plan', () => ({ hash, catalog: packed }), large));
    },
    planClearing: () => moveOf(call('clearing', () => ({}), large)),
    async planAnew(lost) {
      await checkpoints.allKept();
      return await moveOf(call('anew', () => ({ lost: [...lost] }), large));
    },
    keepHeld: (stream, held) => checkpoints.add({ stream, held }, held.length),
    keepState: (_state, text) => checkpoints.add({ state: text }, text.length),
    async keepConfiguration(kind, configuration) {
      await call('configuration', () => ({ kind, configuration }));
    },
    progress: options.onProgress,
    async finish(report) {
      try {
        await checkpoints.allKept();
        await log.flush();
      } catch (error) {
        // A cancelled attempt is over for the coordinator only when it hears that its processes are gone.
        if (!(error instanceof StaleAttempt)) throw error;
      }
      const { outcome } = report.status === 'ended' ? report : { outcome: undefined };
      const sent = outcome?.notReplaced
        ? { ...report, outcome: { ...outcome, notReplaced: [...outcome.notReplaced] } }
        : report;
      await call('finish', () => sent as unknown as RequestOf<'finish'>);
    },
  };
}

/** Throws what the coordinator has refused. */
function accepted<T extends object>(answer: T | Refused): Exclude<T, Refused> {
  if ('failure' in answer) throw thrown(answer as Refused);
  return answer as Exclude<T, Refused>;
}

const thrown = ({ failure, isDelay }: Refused) => (isDelay ? new RunDelayed(failure) : new RunFailure(failure));

/** States on their way: what has come while a request was under way goes with the next one. */
class Checkpoints {
  readonly #send: (request: () => RequestOf<'checkpoint'>) => Promise<unknown>;
  #waiting: Entry[] = [];
  #bytes = 0;
  #number = 0;
  #sending: Promise<void> | undefined;
  #failure: { error: unknown } | undefined;

  constructor(send: (request: () => RequestOf<'checkpoint'>) => Promise<unknown>) {
    this.#send = send;
  }

  async add(entry: Entry, bytes: number): Promise<void> {
    if (this.#failure) throw this.#failure.error;
    this.#waiting.push(entry);
    this.#bytes += bytes;
    this.#sending ??= this.#sendAll();
    if (this.#bytes > waitingBytes) await this.allKept();
  }

  async allKept(): Promise<void> {
    await this.#sending;
    if (this.#failure) throw this.#failure.error;
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const entries = this.#takeBatch();
        await this.#send(() => ({ number: ++this.#number, entries }));
      }
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#sending = undefined;
    }
  }

  #takeBatch(): Entry[] {
    let bytes = 0;
    let count = 0;
    for (const entry of this.#waiting) {
      if (count >= batchEntries || (count > 0 && bytes >= batchBytes)) break;
      bytes += 'state' in entry ? entry.state.length : entry.held.length;
      count++;
    }
    this.#bytes -= bytes;
    return this.#waiting.splice(0, count);
  }
}
