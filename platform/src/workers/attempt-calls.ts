/**
 * What a worker asks of one attempt. What it sends is hostile input: the schemas bound it, secrets are taken out of every text
 * again, and nothing it says reaches another connection than that of its attempt.
 */
import { createHash } from 'node:crypto';
import { textsIn } from '@inlay/contract/catalog/connector-configuration';
import { type Redactor, redactor } from '@inlay/contract/text/redaction';
import { storableText } from '@inlay/contract/text/storable-text';
import type { Catalog, State } from '@inlay/protocol/protocol';
import { getActor } from '../actors/actors.ts';
import { findKeptCatalog } from '../actors/discovery.ts';
import { launchOf } from '../actors/prepared-connector.ts';
import type { AttemptRef, AttemptReport } from '../attempts/desk.ts';
import {
  type AnswerOf,
  type AttemptCall,
  type Refused,
  type RequestOf,
  writeMove,
} from '../attempts/worker-messages.ts';
import { getConnection } from '../connections/connections.ts';
import { keepHeld, keepState } from '../connections/stream-states.ts';
import type { WorkerRow } from '../db/tables.ts';
import { definitionOf, getDefinition } from '../definitions/definitions.ts';
import { OpaqueRefusal, Problem } from '../problems.ts';
import { catalogText } from '../runner/catalog-text.ts';
import { checkedCatalog } from '../runner/checked-catalog.ts';
import { RunDelayed, RunFailure } from '../runner/runner.ts';
import { getWorkspace } from '../workspaces/workspaces.ts';
import type { OpenDesk } from './attempts-book.ts';
import type { WorkersContext } from './context.ts';
import { type GivenLaunch, givenConnector, givenLaunch, givenToken } from './given-connector.ts';
import { ownerOf, whyNotOf } from './live-workers.ts';
import { unpackCatalog } from './tasks.ts';
import * as workers from './workers.store.ts';

interface Caller {
  worker: WorkerRow;
  ref: AttemptRef;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
}

type Handler<C extends AttemptCall> = (
  ctx: WorkersContext,
  caller: Caller,
  request: RequestOf<C>,
) => Promise<AnswerOf[C]>;

export const attemptHandlers: { [C in AttemptCall]: Handler<C> } = {
  async connector(ctx, caller, { kind, forMs }) {
    return await withDesk(ctx, caller, async (desk) => {
      const { launch } = await placed(ctx, caller, kind);
      const options = { signal: caller.signal, ...(forMs !== undefined && { forMs }) };
      return await desk.useConnector(kind, options, async (connector) => {
        (await redactorOf(ctx, caller, desk)).add(connector.secrets);
        return { launch, ...givenConnector(ctx, connector) };
      });
    });
  },

  async manifest(ctx, caller, { kind }) {
    const { texts } = await placed(ctx, caller, kind);
    if (!texts) throw new OpaqueRefusal(422, 'the connector of this attempt is not a manifest');
    return texts;
  },

  async token(ctx, caller, { notGeneration }) {
    return await withDesk(ctx, caller, (desk) =>
      desk.useConnector('source', { signal: caller.signal }, async ({ signIn }) => {
        if (!signIn || signIn.handsOver) throw new OpaqueRefusal(422, 'the source of this attempt has no access token');
        const fresh = await signIn.fresh(notGeneration === undefined ? {} : { notGeneration });
        (await redactorOf(ctx, caller, desk)).add(fresh.secrets);
        return givenToken(ctx, fresh);
      }),
    );
  },

  async plan(ctx, caller, { hash, catalog: packed }) {
    return await withDesk(ctx, caller, async (desk) => {
      const catalog = packed === undefined ? await knownCatalog(ctx, desk, hash) : await readPacked(packed);
      if (!catalog) return { needsCatalog: true };
      return writeMove(await desk.plan(checkedCatalog('source', catalog)));
    });
  },

  clearing: async (ctx, caller) => await withDesk(ctx, caller, async (desk) => writeMove(await desk.planClearing())),

  anew: async (ctx, caller, { lost }) =>
    await withDesk(ctx, caller, async (desk) => writeMove(await desk.planAnew(lost))),

  /** One transaction, with the number of the request: one that was delayed must not undo a later one. */
  async checkpoint(ctx, { worker, ref }, { number, entries }) {
    const read = entries.map((entry) => ('state' in entry ? { ...entry, parsed: readState(entry.state) } : entry));
    await ctx.attempts.asAttempt(ref, ownerOf(worker), async (tx, { workspace_id: workspaceId, connection_id }) => {
      if (!(await workers.takeCheckpoint(tx, ref, number))) return;
      const connection = { workspaceId, connectionId: connection_id };
      for (const entry of read) {
        if ('state' in entry) await keepState(tx, connection, entry.parsed, entry.state);
        else await keepHeld(tx, connection, entry.stream, storableText(entry.held));
      }
    });
    return {};
  },

  async configuration(ctx, caller, { kind, configuration }) {
    return await withDesk(ctx, caller, async (desk) => {
      (await redactorOf(ctx, caller, desk)).add(textsIn(configuration));
      await desk.keepConfiguration(kind, configuration);
      return {};
    });
  },

  async logs(ctx, caller, { from, lines }) {
    return await withDesk(ctx, caller, async (desk) => {
      const { redact } = await redactorOf(ctx, caller, desk);
      const known = await ctx.store.transaction((tx) => workers.takeLogLines(tx, caller.ref, from, lines.length));
      for (const { level, origin, message } of lines.slice(known)) {
        desk.log.write(level, origin, storableText(redact(message)));
      }
      return {};
    });
  },

  async finish(ctx, caller, report) {
    return await withDesk(ctx, caller, async (desk) => {
      const { redact } = await redactorOf(ctx, caller, desk);
      await desk.finish(readReport(report, redact));
      return {};
    });
  },
};

async function withDesk<T>(
  ctx: WorkersContext,
  { worker, ref }: Caller,
  work: (desk: OpenDesk) => Promise<T>,
): Promise<T | Refused> {
  const desk = await ctx.attempts.openDesk(ref, ownerOf(worker));
  try {
    return await work(desk);
  } catch (error) {
    if (!(error instanceof RunFailure)) throw error;
    return { failure: error.failure, isDelay: error instanceof RunDelayed };
  } finally {
    desk.close();
  }
}

/**
 * How the connector is started on the worker. Asks again whether it may run there: its secrets leave with the next answer, and
 * the connector, the workspace or the worker may have changed since the claim.
 */
async function placed(
  ctx: WorkersContext,
  { worker, ref }: Caller,
  kind: 'source' | 'destination',
): Promise<GivenLaunch> {
  const owner = ownerOf(worker);
  const { definition, reason } = await ctx.attempts.asAttempt(ref, owner, async (tx, job) => {
    const connection = await getConnection(tx, job.connection_id);
    const source = await getActor(tx, 'source', connection.source_id);
    const destination = await getActor(tx, 'destination', connection.destination_id);
    const workspace = await getWorkspace(tx, job.workspace_id);
    const whyNot = await whyNotOf(ctx, tx, worker);
    const chosen = kind === 'source' ? source : destination;
    return {
      definition: await getDefinition(ctx.actors.definitions, definitionOf(chosen), tx),
      reason: await whyNot({ kind: 'sync', workspace, source, destination }),
    };
  });
  if (reason !== undefined) throw new RunFailure({ origin: 'platform', type: 'transient_error', message: reason });
  const launch = await launchOf(ctx.actors, definition);
  return await givenLaunch(launch, definition.name);
}

/** That of the last discovery, if the source has the same now. */
async function knownCatalog(ctx: WorkersContext, desk: OpenDesk, hash: string): Promise<Catalog | undefined> {
  const { source_id } = await getConnection(ctx.store.db, desk.assignment.connectionId);
  const kept = await findKeptCatalog(ctx.actors, await getActor(ctx.store.db, 'source', source_id));
  if (!kept) return undefined;
  return createHash('sha256')
    .update(await catalogText(kept))
    .digest('hex') === hash
    ? kept
    : undefined;
}

async function readPacked(packed: string): Promise<Catalog> {
  try {
    return await unpackCatalog(packed);
  } catch (cause) {
    throw new OpaqueRefusal(422, `the catalog cannot be read: ${(cause as Error).message}`);
  }
}

function readState(text: string): State {
  try {
    const state: unknown = JSON.parse(text);
    if (typeof state === 'object' && state !== null && !Array.isArray(state) && text.isWellFormed()) return state;
  } catch {
    // Said below.
  }
  throw new OpaqueRefusal(422, 'a state cannot be read');
}

const redacted = new Set(['message', 'internalMessage', 'example']);

function readReport(report: RequestOf<'finish'>, redact: (text: string) => string): AttemptReport {
  const clean = (key: string, value: unknown) =>
    redacted.has(key) && typeof value === 'string' ? storableText(redact(value)) : value;
  const read: RequestOf<'finish'> = JSON.parse(JSON.stringify(report), clean);
  if (read.status !== 'ended') return read as AttemptReport;
  const { notReplaced, ...outcome } = read.outcome;
  const whole = { ...outcome, ...(notReplaced && { notReplaced: new Set(notReplaced) }) };
  return { ...read, outcome: whole } as AttemptReport;
}

/**
 * Knows every secret that a worker was given for an attempt. Another coordinator may have given them, so they are read again here
 * where they aren't known. Without them nothing is stored: the worker repeats the request.
 */
async function redactorOf({ redactors }: WorkersContext, { ref, signal }: Caller, desk: OpenDesk): Promise<Redactor> {
  const key = `${ref.jobId} ${ref.epoch}`;
  const known = redactors.get(key);
  if (known) return known;
  const secrets: string[] = [];
  for (const kind of ['source', 'destination'] as const) {
    try {
      await desk.useConnector(kind, { signal }, async (connector) => {
        secrets.push(...connector.secrets);
      });
    } catch (error) {
      if (!(error instanceof RunFailure)) throw error;
      if (error instanceof RunDelayed) throw new Problem('service-unavailable', null, { cause: error });
      // Without a valid credential there is no token that could show.
    }
  }
  const made = redactor(secrets);
  redactors.set(key, made);
  return made;
}
