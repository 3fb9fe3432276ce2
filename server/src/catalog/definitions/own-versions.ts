/**
 * Shows the versions of an organization's own connector: who uploaded each manifest, how many sources use it, which
 * streams run, and what changed. own-definitions.ts creates and deletes versions.
 */
import {
  type ManifestStreamChange,
  maxListedChanges,
  type SourceDefinitionVersion,
  type SourceDefinitionVersionList,
  type SourceDefinitionVersionSummary,
} from '@inlay/contract/catalog/definition-versions';
import { AppError } from '../../kernel/errors.ts';
import { factsOfVersion } from '../../kernel/version-facts.ts';
import { withoutSecrets } from './manifest-secrets.ts';
import * as own from './own-definitions.store.ts';
import { type Content, contentOf, manifestOf, type OwnDefinitionsContext, whatRuns } from './own-definitions.ts';

export async function listOwnVersions(
  ctx: OwnDefinitionsContext,
  organizationId: string,
  id: string,
  { limit, cursor }: { limit: number; cursor: number | undefined },
): Promise<SourceDefinitionVersionList> {
  const definition = await getOwn(ctx, organizationId, id);
  const upTo = Math.min(cursor ?? definition.version, definition.version);
  // One more row, to compute what the last version of the page changed.
  const rows = await own.listVersions(ctx.store.db, organizationId, id, { upTo, limit: limit + 1 });
  const summaries = await summarize(ctx, definition, rows);
  const data = summaries.slice(0, limit).map(({ changes, ...summary }) => ({
    ...summary,
    changes: changes.slice(0, maxListedChanges),
  }));
  return { data, next: rows.length > limit ? String(rows.at(-1)?.number) : null };
}

export async function presentOwnVersion(
  ctx: OwnDefinitionsContext,
  organizationId: string,
  id: string,
  number: number,
): Promise<SourceDefinitionVersion> {
  const definition = await getOwn(ctx, organizationId, id);
  const rows = await own.listVersions(ctx.store.db, organizationId, id, { upTo: number, limit: 2 });
  const [row] = rows;
  if (row?.number !== number) throw new AppError('source_definition_version_not_found');
  const [summary] = await summarize(ctx, definition, rows);
  if (!summary) throw new AppError('source_definition_version_not_found');
  const version = { ...row, version_id: row.id };
  return {
    ...summary,
    ...whatRuns(await contentOf(ctx.store.db, version)),
    content: withoutSecrets(await manifestOf(ctx, version)),
  };
}

async function getOwn(
  { store }: OwnDefinitionsContext,
  organizationId: string,
  id: string,
): Promise<own.VersionedDefinition> {
  const row = await own.findOwn(store.db, organizationId, id);
  if (!row) throw new AppError('source_definition_not_found');
  return row;
}

/** Each is compared with the next row, which is the version before that is kept. */
async function summarize(
  { store, uses }: OwnDefinitionsContext,
  { organization_id, id, version }: own.VersionedDefinition,
  rows: readonly own.VersionWithAuthor[],
): Promise<SourceDefinitionVersionSummary[]> {
  const numbers = rows.map((row) => row.number);
  const counts = await uses.countSources(store.db, organization_id, id, numbers);
  const runs: Runs[] = [];
  for (const row of rows) runs.push(runsIn(await contentOf(store.db, { ...row, version_id: row.id })));
  return rows.map((row, index) => {
    const own = runs[index] ?? new Map();
    const before = runs[index + 1];
    const changes = before ? streamChanges(before, own) : [];
    const running = [...own.values()].filter((state) => state === 'runs').length;
    return {
      ...factsOfVersion(row, version),
      source_count: counts.get(row.number) ?? 0,
      running_stream_count: running,
      left_out_stream_count: own.size - running,
      change_count: changes.length,
      changes,
    };
  });
}

type Runs = ReadonlyMap<string, 'runs' | 'left_out'>;

function runsIn(content: Content): Runs {
  return new Map(content.streams.map(({ name, errors }) => [name, errors.length === 0 ? 'runs' : 'left_out']));
}

function streamChanges(before: Runs, after: Runs): ManifestStreamChange[] {
  const names = [...new Set([...after.keys(), ...before.keys()])];
  return names
    .map((stream) => ({ stream, was: before.get(stream), is: after.get(stream) }))
    .filter(({ was, is }) => was !== is)
    .map(({ stream, was, is }) => ({ stream, ...(was && { before: was }), ...(is && { after: is }) }));
}
