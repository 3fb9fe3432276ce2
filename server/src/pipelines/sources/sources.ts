/**
 * Sources: what a customer connects, made from an operator's template. This file owns creating, showing, changing and
 * deleting them; set-up.ts tells the platform, checks.ts tries a configuration out.
 *
 * What always holds: what was accepted is on disk before it is acknowledged, with every connection it is to get; a
 * configuration that was accepted satisfies the connector's specification; secrets leave only masked.
 */
import { type Configuration, maskSecrets } from '@inlay/contract/connector-configuration';
import type { Audience, Health } from '@inlay/contract/health';
import type {
  CreateSourceRequest,
  Source,
  SourceStatus,
  SourceSummary,
  UpdateSourceRequest,
} from '@inlay/contract/sources';
import type { Db } from '../db/open.ts';
import type { ConnectionTemplateRow, SourceRow, WorkspaceRow } from '../db/tables.ts';
import type { Definition } from '../definitions/definition.ts';
import { definitionOf, findDefinition, getDefinition } from '../definitions/definitions.ts';
import { holdDefinition } from '../definitions/own-definitions.ts';
import { maskConfiguration, openConfiguration, sealConfiguration } from '../definitions/sealed-configuration.ts';
import { AppError } from '../errors.ts';
import { isoTime } from '../iso-time.ts';
import { PlatformError } from '../platform/platform-port.ts';
import { takeRoom } from '../quotas/quotas.ts';
import { listMatchingConnectionTemplates } from '../templates/connection-templates.ts';
import { withoutHidden } from '../templates/field-customizations.ts';
import { askedSpec } from '../templates/sign-in.ts';
import {
  customizationOf,
  openDefaults,
  presentBrief,
  presentOfferedSignIn,
  type SourceTemplate,
} from '../templates/source-templates.ts';
import { withFingerprints } from '../templates/versions.ts';
import { holdLiveWorkspace } from '../workspaces/live-workspaces.ts';
import { delayOf } from '../workspaces/operations.ts';
import { acceptConfiguration } from './configuration.ts';
import * as connections from './connections.store.ts';
import type { PipelinesContext, Scope } from './context.ts';
import {
  aboutSource,
  recordConnections,
  recordDeletionRequested,
  recordSourcesDeleted,
  settingsOfSource,
} from './entries.ts';
import { worstOf } from './health.ts';
import { healthIn, presentHealth } from './job-words.ts';
import { holdHealth, refreshHealth } from './jobs.ts';
import * as lists from './lists.store.ts';
import { recordWorkspaceDeleted } from './remote.store.ts';
import { setUpSoon, setUpSource } from './set-up.ts';
import {
  assertSignedIn,
  ensureOwnCredential,
  placeholdersFor,
  releaseCredential,
  withoutPlaceholders,
} from './signed-in.ts';
import { freeSlug, slugOf } from './slugs.ts';
import { getOffered, templateOf, versionedTemplateOf } from './source-template.ts';
import * as sources from './sources.store.ts';
import { chooseStreamsAnew } from './template-moves.store.ts';
import { placementOf, presentRunning, schemaChangesOf } from './template-moves.ts';

/** How long a request waits for another worker that works on the same source. */
const patienceMs = 25_000;

export async function createSource(ctx: PipelinesContext, scope: Scope, request: CreateSourceRequest): Promise<Source> {
  const { organizationId, workspaceId } = scope;
  const template = await getOffered(ctx, scope, request.source_template_id);
  const definition = await getDefinition(ctx.templates, definitionOf(template));
  const credentialId = request.credential_id ?? null;
  assertSignedIn(template, credentialId);
  const config = await accept(ctx, template, {
    given: request.source_config ?? {},
    stored: {},
    credentialId,
    isNew: true,
  });
  const planned = await connectionTemplatesFor(ctx, scope, request);
  const id = ctx.runtime.newId();
  const row = await ctx.store.transaction(async (tx) => {
    const workspace = await holdLiveWorkspace(tx, organizationId, workspaceId);
    const definitionVersion = await holdDefinition(tx, organizationId, definition);
    // The configuration was accepted by another version of the definition.
    if (definitionVersion !== (definition.ownVersion ?? 0)) return undefined;
    await takeRoom(ctx, tx, scope, { sources: 1, connections: planned.length });
    await holdCredential(ctx, tx, scope, { id: credentialId, templateId: template.id });
    const own = await ensureOwnCredential(ctx, tx, scope, template);
    const name = request.name ?? template.name;
    const slug = slugOf(name);
    const source = await sources.insertSource(tx, {
      id,
      organizationId,
      workspaceId,
      templateId: template.id,
      definitionId: template.definition_id,
      templateVersion: template.version,
      definitionVersion,
      name,
      slug: freeSlug(slug, await sources.slugsLike(tx, workspaceId, slug)),
      sealedConfig: sealConfiguration(ctx.sealer, 'source', id, config),
      credentialId: own ?? credentialId,
    });
    await ctx.journal.record(tx, organizationId, {
      type: 'source.created',
      workspaceId,
      data: { source: aboutSource(source) },
      change: { before: undefined, after: settingsOfSource(source, withFingerprints(ctx, definition, id, config)) },
    });
    for (const connectionTemplate of planned) await planConnection(ctx, tx, workspace, source, connectionTemplate);
    return source;
  });
  if (!row) return await createSource(ctx, scope, request);
  setUpSoon(ctx, { workspaceId: scope.workspaceId, id });
  return await presentSource(ctx, scope, row);
}

/** The connection templates that the token and the request both allow. */
async function connectionTemplatesFor(
  ctx: PipelinesContext,
  { organizationId, templateFilters: filters }: Scope,
  request: CreateSourceRequest,
) {
  const asked = await listMatchingConnectionTemplates(ctx.templates, organizationId, {
    tags: request.selected_connection_template_tags ?? [],
    mode: request.selected_connection_template_tags_mode ?? 'any',
  });
  if (!filters) return asked;
  const allowed = await listMatchingConnectionTemplates(ctx.templates, organizationId, {
    tags: filters.selected_connection_template_tags,
    mode: filters.selected_connection_template_tags_mode,
  });
  const ids = new Set(allowed.map(({ id }) => id));
  return asked.filter(({ id }) => ids.has(id));
}

/** Copies the template as it is now: a later change of the template changes only later connections. */
export async function planConnection(
  ctx: PipelinesContext,
  tx: Db,
  workspace: WorkspaceRow,
  source: SourceRow,
  template: ConnectionTemplateRow,
): Promise<void> {
  const place = { organizationId: workspace.organization_id, workspaceId: workspace.id };
  const destinationId = await connections.ensureDestination(tx, {
    id: ctx.runtime.newId(),
    ...place,
    templateId: template.id,
    templateVersion: template.version,
    name: template.destination_name,
  });
  const made = await connections.insertConnection(tx, place.organizationId, place.workspaceId, {
    id: ctx.runtime.newId(),
    connection_template_id: template.id,
    source_id: source.id,
    source_template_id: source.source_template_id,
    definition_id: source.definition_id,
    destination_id: destinationId,
    cron_expression: template.cron_expression,
    schema_changes: schemaChangesOf(template.non_breaking_changes_preference),
    ...placementOf(template, workspace, source.slug),
    template_version: template.version,
    first_sync_wanted: template.sync_on_create,
    customer_may_change: template.customer_may_change,
  });
  if (made !== undefined) await recordConnections(ctx.journal, tx, place, 'connection.created', [made]);
}

export async function listSources(ctx: PipelinesContext, { workspaceId, audience }: Scope): Promise<SourceSummary[]> {
  return await presentSummaries(ctx, await sources.listSources(ctx.store.db, workspaceId), audience);
}

export async function presentSummaries(
  ctx: PipelinesContext,
  rows: readonly SourceRow[],
  audience: Audience,
): Promise<SourceSummary[]> {
  const healths = await healthsOf(ctx, rows, audience);
  const templates = new Map<string, Promise<SourceTemplate>>();
  const templateFor = (row: SourceRow) => {
    const known = templates.get(row.source_template_id) ?? templateOf(ctx, row);
    templates.set(row.source_template_id, known);
    return known;
  };
  return await Promise.all(
    rows.map(async (row) => ({
      ...presentCommon(row, healths(row), audience),
      summarized_source_template: presentBrief(ctx.templates, await templateFor(row)),
    })),
  );
}

/** The health of a source is the worst of its connections. */
async function healthsOf(
  ctx: PipelinesContext,
  rows: readonly SourceRow[],
  audience: Audience,
): Promise<(row: SourceRow) => Health> {
  const found = await lists.listHealths(
    ctx.store.db,
    [...new Set(rows.map(({ workspace_id }) => workspace_id))],
    rows.map(({ id }) => id),
  );
  const never = { health: 'never_synced', health_detail: '{}', unwell_since: null } as const;
  return ({ id }) => {
    const worst = worstOf(found.filter(({ source_id }) => source_id === id).map(healthIn));
    return presentHealth(worst ?? healthIn(never), audience);
  };
}

export async function getSource(ctx: PipelinesContext, scope: Scope, id: string): Promise<SourceRow> {
  const row = await sources.findSource(ctx.store.db, scope.workspaceId, id);
  if (row) return row;
  const isElsewhere = await sources.existsSource(ctx.store.db, scope.organizationId, id);
  throw new AppError(isElsewhere ? 'forbidden' : 'source_not_found');
}

export async function updateSource(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
  update: UpdateSourceRequest,
): Promise<Source> {
  const { name, source_config: given } = update;
  const present = await getSource(ctx, scope, id);
  const stored = openConfiguration(ctx.sealer, 'source', id, present.sealed_config);
  const template = await versionedTemplateOf(ctx, present);
  const credentialId = update.credential_id ?? present.credential_id;
  const isNew = credentialId !== present.credential_id;
  if (isNew) assertSignedIn(template, credentialId);
  // A new sign-in may take the place of keys that were entered.
  const values = given ?? (isNew ? stored : undefined);
  const signIn = { credentialId, isNew };
  const ahead = values && (await acceptAhead(ctx, present, template, { given: values, stored, ...signIn }));
  const config = ahead?.config ?? (values && (await accept(ctx, template, { given: values, stored, ...signIn })));
  const changes = {
    ...(name === undefined || name === present.name ? {} : { name }),
    ...(config === undefined ? {} : { sealed_config: sealConfiguration(ctx.sealer, 'source', id, config) }),
    ...(ahead && { definition_version: ahead.version }),
    ...(isNew && { credential_id: credentialId }),
  };
  if (Object.keys(changes).length === 0) return await presentSource(ctx, scope, present);
  const definition = await findDefinition(ctx.templates, definitionOf(template));
  const shown = (row: SourceRow, values: Configuration) =>
    settingsOfSource(row, withFingerprints(ctx, definition, id, values));
  const row = await ctx.store.transaction(async (tx) => {
    await holdLiveWorkspace(tx, scope.organizationId, scope.workspaceId);
    if (ahead && (await holdDefinition(tx, scope.organizationId, ahead.definition)) !== ahead.version)
      return 'outdated';
    if (isNew) {
      await holdCredential(ctx, tx, scope, { id: credentialId, templateId: template.id });
    }
    // A version of the template that waited for this edit comes with the streams that it selects.
    if (config && present.applied_template_version < present.template_version) {
      await chooseStreamsAnew(tx, scope.workspaceId, id);
    }
    const changed = await sources.changeSource(tx, scope.workspaceId, id, changes);
    if (changed && isNew) await releaseCredential(ctx, tx, present);
    if (changed) {
      const names = Object.keys(changes).map((column) => (column === 'sealed_config' ? 'source_config' : column));
      await ctx.journal.record(tx, scope.organizationId, {
        type: 'source.updated',
        workspaceId: scope.workspaceId,
        data: { source: aboutSource(changed), changed: names },
        change: { before: shown(present, stored), after: shown(changed, config ?? stored) },
      });
    }
    return changed;
  });
  // The configuration was accepted by a version that is not the newest any more.
  if (row === 'outdated') return await updateSource(ctx, scope, id, update);
  if (!row) throw new AppError('source_not_found');
  setUpSoon(ctx, { workspaceId: scope.workspaceId, id });
  return await presentSource(ctx, scope, row);
}

/**
 * Records the deletion first and tells the platform after that. If the platform cannot be told now, it is told later.
 */
export async function deleteSource(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
): Promise<{ id: string; deleted_at: string }> {
  await getSource(ctx, scope, id);
  const recorded = await ctx.store.transaction(async (tx) => {
    await holdHealth(ctx, tx, [scope.workspaceId]);
    const row = await sources.changeSource(tx, scope.workspaceId, id, { lifecycle: 'deleting' });
    if (row) await recordDeletionRequested(ctx.journal, tx, [row]);
    // The workspace does as well as what stays.
    if (row) await refreshHealth(ctx, tx, [scope.workspaceId], { ids: [] });
    return row;
  });
  if (!recorded) throw new AppError('source_not_found');
  const deadline = ctx.runtime.elapsed() + patienceMs;
  for (;;) {
    const cause = await setUpSource(ctx, { workspaceId: scope.workspaceId, id });
    const row = await sources.findAnySource(ctx.store.db, scope.workspaceId, id);
    if (row?.deleted_at != null) return { id, deleted_at: isoTime(row.deleted_at) };
    // Without a cause another worker is at work on the source, and will notice the deletion.
    if (cause || ctx.runtime.elapsed() >= deadline) {
      const delay = delayOf(cause instanceof PlatformError ? cause : undefined);
      throw new AppError('source_deletion_recorded', { delay }, { cause });
    }
    await ctx.runtime.sleep(100 + ctx.runtime.random() * 200);
  }
}

/** Used when a workspace is deleted: the platform has deleted everything in it already. */
export async function recordContentsDeleted(
  ctx: Pick<PipelinesContext, 'journal' | 'sealer' | 'credentials'>,
  tx: Db,
  { id: workspaceId, organization_id: organizationId }: WorkspaceRow,
  deletedAt: number,
): Promise<void> {
  const deleted = await recordWorkspaceDeleted(tx, workspaceId, deletedAt);
  const place = { organizationId, workspaceId };
  await recordConnections(ctx.journal, tx, place, 'connection.deleted', deleted.connectionIds);
  await recordSourcesDeleted(ctx, tx, deleted.sources);
}

export async function presentSource(
  ctx: PipelinesContext,
  { audience }: Pick<Scope, 'audience'>,
  row: SourceRow,
): Promise<Source> {
  const healths = await healthsOf(ctx, [row], audience);
  const template = await versionedTemplateOf(ctx, row);
  const definition = await findDefinition(ctx.templates, definitionOf(template));
  const described = (await newerDefinitionOf(ctx, row)) ?? definition;
  const config = openConfiguration(ctx.sealer, 'source', row.id, row.sealed_config);
  return {
    ...presentCommon(row, healths(row), audience),
    source_template: presentBrief(ctx.templates, template),
    credential_id: row.credential_id,
    source_config: maskConfiguration(
      definition,
      withoutPlaceholders(config, definition && placeholdersFor(definition.specification, template, row.credential_id)),
    ),
    // A source that has stayed on an older version is asked for what the newest needs.
    user_config_spec: described
      ? askedSpec(described, template, openDefaults(ctx.templates, template), row.credential_id !== null)
      : null,
    oauth: described ? await presentOfferedSignIn(ctx.templates, described, template) : null,
  };
}

/** The newest version of the definition, for a source that has stayed on an older one. */
async function newerDefinitionOf(ctx: PipelinesContext, row: SourceRow): Promise<Definition | undefined> {
  if (row.definition_version === 0) return undefined;
  const newest = await findDefinition(ctx.templates, definitionOf(await templateOf(ctx, row)));
  return (newest?.ownVersion ?? 0) > row.definition_version ? newest : undefined;
}

/** What the newest version of the definition accepts, for a source that has stayed on an older one; undefined otherwise. */
async function acceptAhead(
  ctx: PipelinesContext,
  row: SourceRow,
  template: SourceTemplate,
  values: GivenValues,
): Promise<{ config: Configuration; definition: Definition; version: number } | undefined> {
  const definition = await newerDefinitionOf(ctx, row);
  if (definition?.ownVersion === undefined) return undefined;
  const defaults = openDefaults(ctx.templates, template);
  try {
    const config = acceptConfiguration(definition.specification, withSignIn(definition, template, values, defaults));
    return { config, definition, version: definition.ownVersion };
  } catch (error) {
    // The source stays on its version, which may still accept the configuration.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** Checks the customer's part together with the template's part, and returns the customer's part to keep. */
export async function accept(
  ctx: PipelinesContext,
  template: SourceTemplate,
  values: GivenValues,
): Promise<Configuration> {
  const definition = await getDefinition(ctx.templates, definitionOf(template));
  const defaults = openDefaults(ctx.templates, template);
  return acceptConfiguration(definition.specification, withSignIn(definition, template, values, defaults));
}

export interface GivenValues {
  given: Configuration;
  stored: Configuration;
  credentialId: string | null;
  /** The customer has signed in for this very change. */
  isNew: boolean;
}

function withSignIn(
  { specification }: Definition,
  template: SourceTemplate,
  { given, stored, credentialId, isNew }: GivenValues,
  defaults: Configuration,
) {
  const signIn = { placeholders: placeholdersFor(specification, template, credentialId), isNew };
  const { field_customizations: fields } = customizationOf(template);
  // Masked, so that a secret that is hidden stays with its address as well.
  const shown = maskSecrets(specification.connectionSpecification, stored);
  return { given: withoutHidden(given, shown, fields), stored, defaults, signIn };
}

async function holdCredential(
  { credentials }: PipelinesContext,
  tx: Db,
  { organizationId, workspaceId }: Scope,
  { id, templateId }: { id: string | null; templateId: string },
): Promise<void> {
  if (id !== null) await credentials.hold(tx, { organizationId, workspaceId, id, templateId });
}

function statusOf({ failure, due_at }: SourceRow): SourceStatus {
  if (due_at !== null) return 'pending';
  return failure === null ? 'ready' : 'failed';
}

function presentCommon(row: SourceRow, health: Health, audience: Audience) {
  const failure = audience === 'operator' ? row.failure : row.customer_failure;
  const status = statusOf(row);
  return {
    id: row.id,
    name: row.name,
    workspace_id: row.workspace_id,
    status,
    // The platform's last answer is for the log. The customer only needs to know that the work goes on.
    status_message:
      status === 'pending' && row.attempts > 0 ? 'The platform is not ready yet; this goes on by itself.' : failure,
    health,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
    ...(audience === 'operator' && { template_version: presentRunning(row) }),
  };
}
