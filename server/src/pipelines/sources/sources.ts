/**
 * Sources: what a customer connects, made from an operator's template. This file owns creating, showing, changing and
 * deleting them; set-up.ts applies changes to the platform, checks.ts tries out a configuration.
 *
 * What always holds: what was accepted is on disk before it is acknowledged, with every connection it is to get; a
 * configuration that was accepted satisfies the connector's specification; secrets leave only masked.
 */
import { type Configuration, listSecrets, maskSecrets } from '@inlay/contract/catalog/connector-configuration';
import { keptSecrets } from '@inlay/contract/catalog/secret-addresses';
import type { Audience, Health } from '@inlay/contract/pipelines/health';
import type {
  CreateSourceRequest,
  Source,
  SourceStatus,
  SourceSummary,
  UpdateSourceRequest,
} from '@inlay/contract/pipelines/sources';
import { sayReason } from '@inlay/contract/reason-words';
import type { Reason } from '@inlay/contract/reasons';
import type { Definition } from '../../catalog/definitions/definition.ts';
import { definitionOf, findDefinition, getDefinition } from '../../catalog/definitions/definitions.ts';
import { holdDefinition, newAddressesOf } from '../../catalog/definitions/own-definitions.ts';
import {
  maskConfiguration,
  openConfiguration,
  sealConfiguration,
} from '../../catalog/definitions/sealed-configuration.ts';
import { withoutHidden } from '../../catalog/forms/field-customizations.ts';
import { askedSpec } from '../../catalog/forms/sign-in.ts';
import {
  customizationOf,
  openDefaults,
  presentBrief,
  presentOfferedSignIn,
  type SourceTemplate,
} from '../../catalog/templates/source-templates.ts';
import { listTemplates } from '../../catalog/templates/templates.ts';
import { withFingerprints } from '../../catalog/templates/versions.ts';
import { ensureOwnCredential, holdCredential, releaseCredential } from '../../credentials/tokens/credentials.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionTemplateRow, SourceRow, WorkspaceRow } from '../../kernel/db/tables.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import { takeRoom } from '../../tenancy/quotas/quotas.ts';
import { holdLiveWorkspace } from '../../tenancy/workspaces/live-workspaces.ts';
import { delayOf } from '../../tenancy/workspaces/operations.ts';
import { chooseStreamsAnew } from '../apply-version.store.ts';
import { acceptConfiguration } from '../configuration.ts';
import * as connections from '../connections.store.ts';
import type { PipelinesContext, Scope } from '../context.ts';
import { configurationWith, versionWith } from '../credential-addresses.ts';
import { aboutSource, recordConnections, recordDeletionRequested, settingsOfSource } from '../entries.ts';
import { worstOf } from '../jobs/health.ts';
import { healthIn, presentHealth } from '../jobs/job-words.ts';
import { holdHealth, refreshHealth } from '../jobs/jobs.ts';
import { placementOf, presentRunning, schemaChangesOf } from '../set-up/apply-version.ts';
import { setUpSoon, setUpSource } from '../set-up/set-up.ts';
import { assertSignedIn, placeholdersFor, withoutPlaceholders } from '../signed-in.ts';
import { freeSlug, slugOf } from '../slugs.ts';
import { getOffered, templateOf, versionedTemplateOf } from '../source-template.ts';
import * as sources from '../sources.store.ts';
import { storedReasons } from '../two-texts.ts';
import * as lists from './lists.store.ts';

/** How long a request waits for another worker that works on the same source. */
const patienceMs = 25_000;

export async function createSource(ctx: PipelinesContext, scope: Scope, request: CreateSourceRequest): Promise<Source> {
  const { organizationId, workspaceId } = scope;
  const template = await getOffered(ctx, scope, request.source_template_id);
  const definition = await getDefinition(ctx.templates, definitionOf(template));
  const credentialId = request.credential_id ?? null;
  assertSignedIn(template, credentialId);
  const config = await accept(ctx, scope, template, {
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
    await takeRoom(ctx.journal, tx, scope, { sources: 1, connections: planned.length });
    if (credentialId !== null) {
      await holdCredential(tx, { organizationId, workspaceId, credentialId, templateId: template.id });
    }
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
  const asked = await listTemplates(ctx.templates, 'connection', organizationId, {
    tags: request.selected_connection_template_tags ?? [],
    mode: request.selected_connection_template_tags_mode ?? 'any',
  });
  if (!filters) return asked;
  const allowed = await listTemplates(ctx.templates, 'connection', organizationId, {
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
  const ahead = values && (await acceptAhead(ctx, scope, present, template, { given: values, stored, ...signIn }));
  const config =
    ahead?.config ?? (values && (await accept(ctx, scope, template, { given: values, stored, ...signIn })));
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
    if (isNew && credentialId !== null) {
      const { organizationId, workspaceId } = scope;
      await holdCredential(tx, { organizationId, workspaceId, credentialId, templateId: template.id });
    }
    // A version of the template that waited for this edit comes with the streams that it selects.
    if (config && present.applied_template_version < present.template_version) {
      await chooseStreamsAnew(tx, scope.workspaceId, id);
    }
    const changed = await sources.changeSource(tx, scope.workspaceId, id, changes);
    if (changed && isNew) await releaseCredential(ctx.journal, tx, present);
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
 * Records the deletion, then deletes on the platform: now, or later if the platform is unavailable.
 */
export async function deleteSource(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
): Promise<{ id: string; deleted_at: string }> {
  await getSource(ctx, scope, id);
  const recorded = await ctx.store.transaction(async (tx) => {
    await holdHealth(ctx.store, tx, [scope.workspaceId]);
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
    // A source that has stayed on an older version needs what the newest requires.
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
  scope: Scope,
  row: SourceRow,
  template: SourceTemplate,
  values: GivenValues,
): Promise<{ config: Configuration; definition: Definition; version: number } | undefined> {
  const definition = await newerDefinitionOf(ctx, row);
  if (definition?.ownVersion === undefined) return undefined;
  const usedWith = await usedElsewhere(ctx, scope, values);
  try {
    await assertKnownAddresses(ctx, scope, definition, values);
    const config = acceptConfiguration(
      definition.specification,
      withSignIn(ctx, definition, template, values, usedWith),
    );
    const present = await getDefinition(ctx.templates, definitionOf(template));
    const versions = { from: row.definition_version, to: definition.ownVersion };
    const isKept =
      (values.credentialId !== null && !values.isNew) ||
      [present, definition].some(
        ({ specification }) => keptSecrets(specification.connectionSpecification, values.given, config).length > 0,
      );
    // Sending the masks back does not count as entering the secrets for this version.
    if (isKept && (await discloses(ctx, scope, { present, definition, stored: values.stored, versions })))
      return undefined;
    return { config, definition, version: definition.ownVersion };
  } catch (error) {
    // The source stays on its version, which may still accept the configuration.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** Whether another version would send stored secrets to new addresses, or show them. */
async function discloses(
  ctx: PipelinesContext,
  { organizationId }: Scope,
  {
    present,
    definition,
    stored,
    versions,
  }: {
    present: Definition;
    definition: Definition;
    stored: Configuration;
    versions: { from: number; to: number };
  },
): Promise<boolean> {
  const [before, after] = [present, definition].map(({ specification }) =>
    listSecrets(specification.connectionSpecification, stored),
  );
  if (before?.some((secret) => !after?.includes(secret))) return true;
  return (await newAddressesOf(ctx, organizationId, definition.id, versions)).length > 0;
}

/** Checks the customer's part together with the template's part, and returns the customer's part to keep. */
export async function accept(
  ctx: PipelinesContext,
  scope: Scope,
  template: SourceTemplate,
  values: GivenValues,
): Promise<Configuration> {
  const definition = await getDefinition(ctx.templates, definitionOf(template));
  await assertKnownAddresses(ctx, scope, definition, values);
  const usedWith = await usedElsewhere(ctx, scope, values);
  return acceptConfiguration(definition.specification, withSignIn(ctx, definition, template, values, usedWith));
}

/** A sign-in that a source uses already goes to no other host than that source's. */
async function usedElsewhere(
  ctx: PipelinesContext,
  { organizationId, workspaceId }: Scope,
  { credentialId, isNew }: GivenValues,
): Promise<Configuration | undefined> {
  if (credentialId === null || !isNew) return undefined;
  return await configurationWith(ctx, { organizationId, workspaceId, credentialId });
}

/** Nor to an address that only another version of the connector has. */
async function assertKnownAddresses(
  ctx: PipelinesContext,
  { organizationId, workspaceId }: Scope,
  { id, ownVersion: to }: Definition,
  { credentialId, isNew }: GivenValues,
): Promise<void> {
  if (credentialId === null || !isNew || to === undefined) return;
  const from = await versionWith(ctx, { organizationId, workspaceId, credentialId });
  if (!from || from === to) return;
  if ((await newAddressesOf(ctx, organizationId, id, { from, to })).length === 0) return;
  const msg = "sign in again, because the connector's new version sends the credential to new addresses";
  throw invalidRequest({ loc: ['body', 'credential_id'], msg, type: 'value_error.secret' });
}

export interface GivenValues {
  given: Configuration;
  stored: Configuration;
  credentialId: string | null;
  /** The customer has signed in for this very change. */
  isNew: boolean;
}

function withSignIn(
  ctx: PipelinesContext,
  { specification }: Definition,
  template: SourceTemplate,
  { given, stored, credentialId, isNew }: GivenValues,
  usedWith: Configuration | undefined,
) {
  const signIn = { placeholders: placeholdersFor(specification, template, credentialId), isNew, usedWith };
  const defaults = openDefaults(ctx.templates, template);
  const { field_customizations: fields } = customizationOf(template);
  // Masked, so that a secret that is hidden stays with its address as well.
  const shown = maskSecrets(specification.connectionSpecification, stored);
  return { given: withoutHidden(given, shown, fields), stored, defaults, signIn };
}

function statusOf({ failure, due_at }: SourceRow): SourceStatus {
  if (due_at !== null) return 'pending';
  return failure === null ? 'ready' : 'failed';
}

const platformNotReady: Reason = { code: 'platform_not_ready', parameters: {} };

function presentCommon(row: SourceRow, health: Health, audience: Audience) {
  const failure = audience === 'operator' ? row.failure : row.customer_failure;
  const status = statusOf(row);
  // The platform's last answer is for the log. The customer only needs to know that work continues.
  const waits = status === 'pending' && row.attempts > 0 ? platformNotReady : undefined;
  return {
    id: row.id,
    name: row.name,
    workspace_id: row.workspace_id,
    status,
    status_message: waits ? sayReason(waits, audience) : failure,
    status_reason: waits ?? (failure === null ? null : (storedReasons(row.failure_reasons)?.[audience] ?? null)),
    health,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
    ...(audience === 'operator' && { template_version: presentRunning(row) }),
  };
}
