/**
 * Applies a template version to what a workspace has from the template: only rows change here, and the set-up worker
 * updates the platform. A connection takes over what differs between its version and the new one, except what was
 * chosen for this connection alone (connection-changes.ts).
 *
 * What always holds: the status of a connection is never touched. Names of tables change only if asked, because new data
 * would then go elsewhere.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Configuration, listSecrets } from '@inlay/contract/catalog/connector-configuration';
import { hasNewAddress } from '@inlay/contract/catalog/secret-addresses';
import type { RunningVersion } from '@inlay/contract/catalog/template-versions';
import type { Fault } from '@inlay/contract/errors';
import { fillPlaceholders } from '@inlay/contract/text/placeholders';
import { configurationFaults } from '../../catalog/definitions/configuration-faults.ts';
import type { Definition } from '../../catalog/definitions/definition.ts';
import { openConfiguration } from '../../catalog/definitions/sealed-configuration.ts';
import { mayChangeText } from '../../catalog/forms/customer-choice.ts';
import { defaultNamespace, defaultPrefix } from '../../catalog/templates/placement.ts';
import type { TemplateState } from '../../catalog/templates/planned-changes.ts';
import {
  type ConnectionContent,
  getVersion,
  openVersion,
  type SourceContent,
} from '../../catalog/templates/versions.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionRow, ConnectionTemplateRow, SourceRow, WorkspaceRow } from '../../kernel/db/tables.ts';
import type { TemplateRef } from '../../kernel/template-ref.ts';
import type { Journal } from '../../log/events/journal.ts';
import * as apply from '../apply-version.store.ts';
import { mergeWithDefaults } from '../configuration.ts';
import type { PipelinesContext } from '../context.ts';
import { aboutSource, recordConnectionUpdated, settingsOfConnection } from '../entries.ts';

/** Where a connection of this workspace and source writes. */
export function placementOf(
  { namespace_format, prefix }: { namespace_format: string | null; prefix: string | null },
  workspace: Pick<WorkspaceRow, 'id' | 'name'>,
  slug: string,
) {
  const values = {
    workspace_id: workspace.id.replaceAll('-', '_'),
    workspace_name: workspace.name,
    source_slug: slug,
  };
  return {
    namespace_format: fillPlaceholders(namespace_format ?? defaultNamespace, values),
    prefix: fillPlaceholders(prefix ?? defaultPrefix, values),
  };
}

/** As operators see it. 0 stands for a version that is not known, or that the platform does not have yet. */
export function presentRunning(row: Pick<SourceRow, 'template_version' | 'applied_template_version'>): RunningVersion {
  return { wanted: row.template_version || null, applied: row.applied_template_version || null };
}

export function schemaChangesOf(preference: ConnectionTemplateRow['non_breaking_changes_preference']) {
  return preference === 'disable' ? 'disable_connection' : preference;
}

interface ConnectionVersion {
  number: number;
  content: ConnectionContent;
}

export async function readConnectionVersion(db: Db, template: TemplateRef, number: number): Promise<ConnectionVersion> {
  return { number, content: JSON.parse((await getVersion(db, template, number)).content) };
}

interface ConnectionStep {
  workspace: Pick<WorkspaceRow, 'id' | 'name'>;
  /** Slug of the connection's source. */
  slug: string;
  /** Content of the version that the connection has; undefined if unknown. */
  base: ConnectionContent | undefined;
  content: ConnectionContent;
  moveData: boolean;
}

/** What a connection takes over: new values of its columns, and whether its name on the platform changes. */
export function changesOfConnection(
  row: ConnectionRow,
  { workspace, slug, base, content, moveData }: ConnectionStep,
): { values: Partial<ConnectionRow>; isRenamed: boolean } {
  const isNew = (field: keyof ConnectionContent) => !isDeepStrictEqual(base?.[field], content[field]);
  const wanted = {
    // What was chosen for this connection alone stays, also where the template changes it.
    ...(isNew('cron_expression') && row.own_schedule === 0 && { cron_expression: content.cron_expression }),
    ...(isNew('non_breaking_changes_preference') && {
      schema_changes: schemaChangesOf(content.non_breaking_changes_preference),
    }),
    ...(moveData && placementOf(content, workspace, slug)),
  };
  const changes = Object.entries(wanted).filter(([field, value]) => row[field as keyof typeof wanted] !== value);
  // The name on the platform contains the destination's.
  return { values: Object.fromEntries(changes), isRenamed: isNew('destination_name') };
}

interface WantedConnection extends Omit<ConnectionStep, 'content'> {
  target: ConnectionVersion;
}

/** Whether something must change on the platform. */
export async function applyToConnection(
  journal: Journal,
  tx: Db,
  row: ConnectionRow,
  { target: { number, content }, ...wanted }: WantedConnection,
): Promise<boolean> {
  const { values, isRenamed } = changesOfConnection(row, { ...wanted, content });
  const isChanged = isRenamed || Object.keys(values).length > 0;
  const change = {
    ...values,
    customer_may_change: mayChangeText(content.customer_may_change),
    template_version: number,
  };
  await apply.changeConnection(tx, row, change, isChanged);
  const place = { organizationId: row.organization_id, workspaceId: row.workspace_id };
  const changed = ['template_version', ...('cron_expression' in values ? ['cron_expression'] : [])];
  await recordConnectionUpdated(journal, tx, place, row.id, changed, {
    before: settingsOfConnection(row),
    after: settingsOfConnection({ ...row, ...change, version: row.version + Number(isChanged) }),
  });
  return isChanged;
}

export interface TemplateVersionToApply {
  template: TemplateRef;
  version: number;
  moveData: boolean;
  mayRedirectSecrets: boolean;
}

export type ApplyOutcome =
  /** Must change on the platform. */
  | { state: 'changing'; failedBefore: boolean; sources: string[] }
  | { state: 'done' }
  | { state: 'skipped'; reason: string };

/** What is in the workspace of a connection template. The caller holds the workspace. */
export async function applyToConnections(
  ctx: PipelinesContext,
  tx: Db,
  workspace: WorkspaceRow,
  { template, version, moveData }: TemplateVersionToApply,
): Promise<ApplyOutcome> {
  const target = await getVersion(tx, template, version);
  const content: ConnectionContent = JSON.parse(target.content);
  const read = readerOf(ctx, tx, template);
  const destination = await apply.lockDestination(tx, workspace.id, template.templateId);
  const rows = await apply.listConnectionsOfTemplate(tx, workspace.id, template);
  let isChanged = false;
  if (destination && destination.template_version < version) {
    const base = await read(destination.template_version);
    const isSame =
      base !== undefined &&
      isDeepStrictEqual(base.configuration, openVersion(ctx.templates, target)) &&
      destination.name === content.destination_name;
    isChanged ||= !isSame;
    const change = { template_version: version, name: content.destination_name };
    await apply.changeDestination(tx, workspace.id, destination.id, change, !isSame);
  } else if (destination) {
    isChanged ||= destination.applied_template_version < destination.template_version;
  }
  for (const { slug, source_failure: _, ...row } of rows) {
    if (row.template_version >= version) {
      isChanged ||= row.applied_template_version < row.template_version;
      continue;
    }
    const base = (await read(row.template_version))?.content as ConnectionContent | undefined;
    const isTold = await applyToConnection(ctx.journal, tx, row, {
      workspace,
      slug,
      base,
      target: { number: version, content },
      moveData,
    });
    isChanged ||= isTold;
  }
  if (!isChanged) return { state: 'done' };
  if (rows.length === 0) {
    // No source's set-up leads to it; see unused-destinations.ts.
    const isThere = destination && (destination.platform_id !== null || destination.no_post_before > 0);
    return isThere ? { state: 'changing', failedBefore: false, sources: [] } : { state: 'done' };
  }
  const failedBefore = rows.some((row) => row.source_failure !== null && !isWithoutItsVersion(row));
  return await wake(tx, workspace.id, [...new Set(rows.map(({ source_id }) => source_id))], failedBefore);
}

/** The sources of a template in the workspace. The caller holds the workspace. */
export async function applyToSources(
  ctx: PipelinesContext,
  tx: Db,
  workspace: WorkspaceRow,
  { template, version, mayRedirectSecrets }: TemplateVersionToApply,
  definition: Definition,
): Promise<ApplyOutcome> {
  const target = await getVersion(tx, template, version);
  const content: SourceContent = JSON.parse(target.content);
  const defaults = openVersion(ctx.templates, target);
  const read = readerOf(ctx, tx, template);
  const woken: string[] = [];
  let failedBefore = false;
  let reason: string | undefined;
  for (const row of await apply.lockSourcesOfTemplate(tx, workspace.id, template.templateId)) {
    const isThere = row.template_version >= version;
    if (isThere && row.applied_template_version === row.template_version) continue;
    // What the platform has: a version that waits for the customer has not arrived there.
    const base = (await read(row.applied_template_version)) as TemplateState<SourceContent> | undefined;
    const { isConfigured, isSelected } = isThere
      ? { isConfigured: true, isSelected: false }
      : changesOfSource(base, { content, configuration: defaults });
    if (
      isConfigured &&
      !mayRedirectSecrets &&
      redirectsSecrets(ctx, definition, row, { before: base ?? (await read(1)), after: defaults })
    ) {
      reason ??= secretsStayText;
      continue;
    }
    const fault = isConfigured ? faultOfSource(ctx, definition, row, defaults) : undefined;
    if (fault) {
      // The customer enters it with the next edit. Until then the source stays unchanged.
      reason ??= missingText(fault);
      await apply.changeSource(tx, row, { template_version: version });
      await recordApplied(ctx, tx, row, version);
      continue;
    }
    await apply.changeSource(tx, row, { template_version: version, isConfigured });
    await recordApplied(ctx, tx, row, version);
    if (isSelected) await apply.chooseStreamsAnew(tx, workspace.id, row.id);
    if (!isConfigured && !isSelected) continue;
    woken.push(row.id);
    failedBefore ||= row.failure !== null && !isWithoutItsVersion(row);
  }
  if (woken.length > 0) return await wake(tx, workspace.id, woken, failedBefore);
  return reason === undefined ? { state: 'done' } : { state: 'skipped', reason };
}

/** A source that is only woken, because the platform does not have its version yet, is as it was. */
async function recordApplied({ journal }: PipelinesContext, tx: Db, row: SourceRow, version: number): Promise<void> {
  if (row.template_version === version) return;
  await journal.record(tx, row.organization_id, {
    type: 'source.updated',
    workspaceId: row.workspace_id,
    data: { source: aboutSource(row), changed: ['template_version'] },
    change: { before: { template_version: row.template_version }, after: { template_version: version } },
  });
}

/** What of the template a source takes over. `base`: the version that it has; undefined where that is not known. */
export function changesOfSource(
  base: TemplateState<SourceContent> | undefined,
  { content, configuration }: TemplateState<SourceContent>,
) {
  return {
    isConfigured:
      !isDeepStrictEqual(base?.configuration, configuration) || !isDeepStrictEqual(base?.content.oauth, content.oauth),
    isSelected: !isDeepStrictEqual(base?.content.customization, content.customization),
  };
}

/** Undefined when the source's own part and these defaults make a valid configuration. */
export function faultOfSource(
  ctx: PipelinesContext,
  { specification }: Definition,
  row: SourceRow,
  defaults: Configuration,
): Fault | undefined {
  const given = openConfiguration(ctx.sealer, 'source', row.id, row.sealed_config);
  return configurationFaults(specification, mergeWithDefaults(given, defaults), [])[0];
}

/** Whether what the customer has given in confidence would go to an address that the source does not have. */
export function redirectsSecrets(
  ctx: PipelinesContext,
  { specification: { connectionSpecification } }: Definition,
  row: SourceRow,
  { before, after }: { before: { configuration: Configuration } | undefined; after: Configuration },
): boolean {
  // A source that the platform does not have yet gets the newest version anyway.
  if (row.platform_id === null) return false;
  const given = openConfiguration(ctx.sealer, 'source', row.id, row.sealed_config);
  if (row.credential_id === null && listSecrets(connectionSpecification, given).length === 0) return false;
  const had = mergeWithDefaults(given, before?.configuration ?? {});
  return hasNewAddress(connectionSpecification, had, mergeWithDefaults(given, after));
}

export const secretsStayText =
  "The customer's secrets would be sent to a new address. Only a rollout with the permission full can do that.";

export function missingText({ loc, msg }: Fault): string {
  return `The customer has to enter ${loc.join('.') || 'the configuration'} first: ${msg}.`;
}

/** Something the platform has, but not yet, or not ever, in the version it was to have: an earlier change has failed. */
function isWithoutItsVersion(row: Pick<SourceRow, 'platform_id' | 'template_version' | 'applied_template_version'>) {
  return row.platform_id !== null && row.applied_template_version < row.template_version;
}

async function wake(tx: Db, workspaceId: string, sourceIds: string[], failedBefore: boolean): Promise<ApplyOutcome> {
  await apply.wakeSources(tx, workspaceId, sourceIds);
  return { state: 'changing', failedBefore, sources: sourceIds };
}

/** Reads a version once. 0, which is not known, gives undefined. */
export function readerOf(ctx: PipelinesContext, tx: Db, template: TemplateRef) {
  const known = new Map<number, { content: unknown; configuration: Configuration }>();
  return async (number: number) => {
    if (number === 0) return undefined;
    let version = known.get(number);
    if (!version) {
      const row = await getVersion(tx, template, number);
      version = { content: JSON.parse(row.content), configuration: openVersion(ctx.templates, row) };
      known.set(number, version);
    }
    return version;
  };
}
