/*
 * Which streams a source has. The connector is asked for them, which may take long, so the answer is kept until the
 * source's configuration or its connector changes, and everybody who asks meanwhile shares one question.
 */
import { createHash } from 'node:crypto';
import type { Platform } from '../context.ts';
import type { ConnectorRow } from '../db/open.ts';
import { getDefinition } from '../definitions/definitions.ts';
import { Problem } from '../problems.ts';
import type { Catalog } from '../protocol.ts';
import { type JobLog, RunFailure } from '../runner/runner.ts';
import { prepareConnector } from './prepared-connector.ts';

export interface DiscoveryOptions {
  /** Ask the connector even if an answer is kept. */
  ignoreCache?: boolean;
  signal?: AbortSignal;
  log?: JobLog;
}

/** For requests: fails as a problem, and in time. The discovery goes on, and its answer is there for the next request. */
export async function awaitCatalog(platform: Platform, source: ConnectorRow, options: DiscoveryOptions = {}) {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const message = 'The source takes long to list its streams. Try again in a while.';
    const refuse = () => reject(new Problem('request-timeout-exceeded', { message }));
    timer = setTimeout(refuse, platform.discoveryPatienceMs);
  });
  try {
    return await Promise.race([discoverCatalog(platform, source, options), tooLate]);
  } catch (error) {
    if (!(error instanceof RunFailure)) throw error;
    throw new Problem('unexpected-problem', { message: error.message }, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Throws a RunFailure when the connector does not answer. */
export async function discoverCatalog(
  platform: Platform,
  source: ConnectorRow,
  { ignoreCache = false, ...options }: DiscoveryOptions = {},
): Promise<Catalog> {
  const { version } = await getDefinition(platform, 'source', source.definition_id);
  const madeFrom = createHash('sha256').update(`${version}\n${source.configuration}`).digest('hex');
  const kept = ignoreCache ? undefined : await findKeptCatalog(platform, source, madeFrom);
  if (kept) return kept;

  // One that somebody else may stop is not shared.
  if (options.signal) return discover(platform, source, madeFrom, options);
  const key = `${source.connector_id} ${madeFrom}`;
  const underWay =
    platform.discoveries.get(key) ??
    discover(platform, source, madeFrom, options).finally(() => platform.discoveries.delete(key));
  platform.discoveries.set(key, underWay);
  return underWay;
}

async function discover(
  platform: Platform,
  source: ConnectorRow,
  madeFrom: string,
  options: Omit<DiscoveryOptions, 'ignoreCache'>,
): Promise<Catalog> {
  const connector = await prepareConnector(platform, source);
  const catalog = await platform.runner.discover(connector, { signal: platform.closing, ...options });
  const row = { made_from: madeFrom, catalog: JSON.stringify(catalog) };
  await platform.store.transaction().execute(async (trx) => {
    const isThere = await trx
      .selectFrom('connectors')
      .select('connector_id')
      .where('connector_id', '=', source.connector_id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    if (!isThere) return;
    await trx
      .insertInto('discovered_catalogs')
      .values({ source_id: source.connector_id, ...row })
      .onConflict((conflict) => conflict.column('source_id').doUpdateSet(row))
      .execute();
  });
  return catalog;
}

async function findKeptCatalog({ store }: Platform, source: ConnectorRow, madeFrom: string) {
  const row = await store
    .selectFrom('discovered_catalogs')
    .select('catalog')
    .where('source_id', '=', source.connector_id)
    .where('made_from', '=', madeFrom)
    .executeTakeFirst();
  return row && (JSON.parse(row.catalog) as Catalog);
}
