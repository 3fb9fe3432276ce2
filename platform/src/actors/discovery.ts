/**
 * Discovers the streams of a source. Asking the connector can take long, so the result is cached until the
 * configuration or the connector changes, and concurrent callers share one discovery (single-flight). Requests wait for
 * their workspace's turn. A sync discovers in the slot it has (attempts/attempt.ts).
 */
import { createHash } from 'node:crypto';
import type { Catalog } from '@inlay/protocol/protocol';
import type { ActorRow } from '../db/tables.ts';
import { definitionOf, getDefinition } from '../definitions/definitions.ts';
import { Problem } from '../problems.ts';
import { catalogText, readCatalog } from '../runner/catalog-text.ts';
import { RunDelayed, RunFailure } from '../runner/runner.ts';
import { findCatalog, putCatalog } from './catalogs.store.ts';
import type { ActorsContext } from './context.ts';
import { useConnector } from './prepared-connector.ts';

interface DiscoveryOptions {
  /** Ask the connector even if an answer is kept. */
  ignoreCache?: boolean;
}

/**
 * For requests: fails with a problem after a time limit. The discovery continues, and the next request gets its result.
 */
export async function awaitCatalog(
  ctx: ActorsContext,
  source: ActorRow,
  options: DiscoveryOptions = {},
): Promise<Catalog> {
  const answered = new AbortController();
  const tooLate = ctx.runtime.sleep(ctx.discoveryPatienceMs, answered.signal).then(() => {
    const message = 'The source is still listing its streams. Try again in a few minutes.';
    throw new Problem('request-timeout-exceeded', { message });
  });
  // Once there is an answer nobody waits for this one any more.
  tooLate.catch(() => {});
  try {
    return await Promise.race([discoverCatalog(ctx, source, options), tooLate]);
  } catch (error) {
    // The connector was stopped in the middle of its answer, whatever it said about that.
    if (ctx.closing.aborted) throw new Problem('service-unavailable', null, { cause: error, retryAfterSeconds: 1 });
    if (error instanceof RunDelayed) {
      const { message } = error.failure;
      throw new Problem('service-unavailable', { message }, { cause: error, retryAfterSeconds: 5 });
    }
    if (!(error instanceof RunFailure)) throw error;
    const { message, type, fields } = error.failure;
    throw new Problem(
      'unexpected-problem',
      { message, failureType: type, ...(fields && { fields }) },
      { cause: error },
    );
  } finally {
    answered.abort();
  }
}

/** Throws a RunFailure when the connector does not answer. */
export async function discoverCatalog(
  ctx: ActorsContext,
  source: ActorRow,
  { ignoreCache = false }: DiscoveryOptions = {},
): Promise<Catalog> {
  const { workspace_id, connector_id } = source;
  const madeFrom = await makingOf(ctx, source);
  const kept = ignoreCache ? undefined : await findCatalog(ctx.store.db, workspace_id, connector_id, madeFrom);
  if (kept !== undefined) return await readCatalog(kept);

  const key = `${connector_id} ${madeFrom}`;
  const underWay =
    ctx.discoveries.get(key) ??
    ctx.discoveryTurns
      .run(workspace_id, () => discover(ctx, source, madeFrom))
      .finally(() => ctx.discoveries.delete(key));
  ctx.discoveries.set(key, underWay);
  return await underWay;
}

/** The catalog that the source has given last, if it is still of the same configuration. Never asks the source. */
export async function findKeptCatalog(ctx: ActorsContext, source: ActorRow): Promise<Catalog | undefined> {
  const { workspace_id, connector_id } = source;
  const kept = await findCatalog(ctx.store.db, workspace_id, connector_id, await makingOf(ctx, source));
  return kept === undefined ? undefined : await readCatalog(kept);
}

/** Discovery does not normally take longer. */
const tokenForMs = 600_000;

/** Keeps what a sync has discovered for whoever asks next. */
export async function keepDiscovered(ctx: ActorsContext, source: ActorRow, catalog: Catalog): Promise<void> {
  await keep(ctx, source, await makingOf(ctx, source), catalog);
}

/** What a catalog depends on. */
async function makingOf(ctx: ActorsContext, source: ActorRow): Promise<string> {
  const { version } = await getDefinition(ctx.definitions, definitionOf(source));
  return createHash('sha256')
    .update(`${version}\n${source.configuration}\n${source.credential ?? ''}`)
    .digest('hex');
}

async function discover(ctx: ActorsContext, source: ActorRow, madeFrom: string): Promise<Catalog> {
  const { closing: signal, discoveryPatienceMs: patienceMs } = ctx;
  const catalog = await useConnector(ctx, source, { signal, forMs: tokenForMs, patienceMs }, (connector) =>
    ctx.runner.discover(connector, { signal }),
  );
  await keep(ctx, source, madeFrom, catalog);
  return catalog;
}

async function keep(ctx: ActorsContext, source: ActorRow, madeFrom: string, catalog: Catalog): Promise<void> {
  const { workspace_id, connector_id } = source;
  await putCatalog(ctx.store.db, workspace_id, connector_id, { madeFrom, catalog: await catalogText(catalog) });
}
