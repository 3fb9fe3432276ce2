/**
 * The versions of a template: every change makes a version, in the transaction of the change, and no version ever
 * changes. This file records and shows versions; it does not decide which connection runs which version.
 *
 * What always holds: the newest version has the number that the template's row says, and the same content; secrets are
 * sealed at rest, and shown as fingerprints.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Configuration, isObject, replaceSecrets } from '@inlay/contract/catalog/connector-configuration';
import type { TemplateOAuth } from '@inlay/contract/catalog/template-oauth';
import type {
  TemplateVersion as ShownVersion,
  TemplateChange,
  TemplateVersionList,
  TemplateVersionSummary,
} from '@inlay/contract/catalog/template-versions';
import type { CustomerMayChange } from '@inlay/contract/pipelines/connections';
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionTemplateRow, TemplateKind, TemplateVersionRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import { type Operator, type TemplateRef, versionMakerOf } from '../../kernel/template-ref.ts';
import { factsOfVersion } from '../../kernel/version-facts.ts';
import type { Definition } from '../definitions/definition.ts';
import { findDefinition } from '../definitions/definitions.ts';
import { allSecret, openConfiguration } from '../definitions/sealed-configuration.ts';
import type { TemplatesContext } from './context.ts';
import * as versions from './versions.store.ts';

/** Everything of a template but its configuration, in the words of the API. */
export interface SourceContent {
  name: string;
  description: string | null;
  /** Left out where there is none, as in versions of before there were categories. */
  category?: string;
  icon: string | null;
  customization: object;
  /** Left out where customers do not sign in. */
  oauth?: TemplateOAuth;
  tags: string[];
}
export interface ConnectionContent {
  destination_name: string;
  cron_expression: string | null;
  non_breaking_changes_preference: ConnectionTemplateRow['non_breaking_changes_preference'];
  sync_on_create: boolean;
  namespace_format: string | null;
  prefix: string | null;
  /** Left out where customers may choose nothing, as in versions of before they could. */
  customer_may_change?: CustomerMayChange;
  tags: string[];
}

/** The name of the configuration field in the API. */
const configurationField = { source: 'partial_default_config', connection: 'destination_config' } as const;

interface NewVersion {
  /** ID of the template. */
  id: string;
  name: string;
  version: number;
  content: SourceContent | ConnectionContent;
  sealed: string;
  by: Operator;
  /** Where the configuration may have changed. Without it nobody knows what is secret, so everything is. */
  definition?: Definition;
  copyOf?: number;
}

/** In the transaction of the change. */
export async function recordVersion(
  ctx: TemplatesContext,
  tx: Db,
  kind: TemplateKind,
  version: NewVersion,
): Promise<void> {
  await versions.insertVersion(tx, version.by.organizationId, {
    id: ctx.runtime.newId(),
    kind,
    template_id: version.id,
    number: version.version,
    content: JSON.stringify(version.content),
    sealed_configuration: version.sealed,
    copy_of: version.copyOf ?? null,
    ...versionMakerOf(version.by),
  });
  const ref = { organizationId: version.by.organizationId, kind, templateId: version.id };
  const last = version.version > 1 ? await versions.findVersion(tx, ref, version.version - 1) : undefined;
  const show = (content: SourceContent | ConnectionContent, sealed: string) =>
    showContent(
      ctx,
      version.definition,
      { kind, template_id: version.id },
      content,
      openConfiguration(ctx.sealer, `${kind} template`, version.id, sealed),
    );
  const change = {
    before: last && show(JSON.parse(last.content), last.sealed_configuration),
    after: show(version.content, version.sealed),
  };
  const template = { kind, id: version.id, name: version.name };
  const data = { template, version: version.version, copy_of: version.copyOf ?? null };
  await ctx.journal.record(tx, version.by.organizationId, { type: 'template.published', data, change });
}

/** In the transaction that deletes the template. All values of its configuration are fingerprints. */
export async function recordDeleted(
  ctx: TemplatesContext,
  tx: Db,
  template: TemplateRef,
  { name, version }: { name: string; version: number },
): Promise<void> {
  const { organizationId, kind, templateId: id } = template;
  const last = await getVersion(tx, template, version);
  const before = showContent(ctx, undefined, last, JSON.parse(last.content), openVersion(ctx, last));
  await ctx.journal.record(tx, organizationId, {
    type: 'template.deleted',
    data: { template: { kind, id, name } },
    change: { before, after: undefined },
  });
}

export async function getVersion(db: Db, template: TemplateRef, number: number): Promise<TemplateVersionRow> {
  const row = await versions.findVersion(db, template, number);
  if (!row) throw new AppError('template_version_not_found');
  return row;
}

/** The template's configuration in that version, with its secrets. */
export function openVersion(ctx: TemplatesContext, row: TemplateVersionRow): Configuration {
  return openConfiguration(ctx.sealer, `${row.kind} template`, row.template_id, row.sealed_configuration);
}

/** An existing template, with the keys for finding its versions. */
export interface VersionedTemplate extends TemplateRef {
  current: number;
  definitionId: string;
}

export async function listVersions(
  ctx: TemplatesContext,
  template: VersionedTemplate,
  { limit, cursor }: { limit: number; cursor: number | undefined },
): Promise<TemplateVersionList> {
  const upTo = Math.min(cursor ?? template.current, template.current);
  // One more row, to compute what the last version of the page changed.
  const rows = await versions.listVersions(ctx.store.db, template, { upTo, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const show = await shower(ctx, template);
  const data = page.map((row, index) => summarize(template, row, show, rows[index + 1]));
  return { data, next: rows.length > limit ? String(rows.at(-1)?.number) : null };
}

export async function presentVersion(
  ctx: TemplatesContext,
  template: VersionedTemplate,
  number: number,
): Promise<ShownVersion> {
  const rows = await versions.listVersions(ctx.store.db, template, { upTo: number, limit: 2 });
  const [row, before] = rows;
  if (row?.number !== number) throw new AppError('template_version_not_found');
  const show = await shower(ctx, template);
  return { ...summarize(template, row, show, before), content: show(row) };
}

type Show = (row: TemplateVersionRow) => Record<string, unknown>;

function summarize(
  { current }: VersionedTemplate,
  row: versions.VersionWithAuthor,
  show: Show,
  before: TemplateVersionRow | undefined,
): TemplateVersionSummary {
  return {
    ...factsOfVersion(row, current),
    changes: before ? differences(show(before), show(row)) : [],
  };
}

async function shower(ctx: TemplatesContext, template: VersionedTemplate): Promise<Show> {
  const { organizationId, kind, definitionId: id } = template;
  const definition = await findDefinition(ctx, {
    organizationId,
    kind: kind === 'source' ? 'source' : 'destination',
    id,
  });
  return (row) => showContent(ctx, definition, row, JSON.parse(row.content), openVersion(ctx, row));
}

/** Secrets are shown as fingerprints. */
export function showContent(
  ctx: TemplatesContext,
  definition: Definition | undefined,
  { kind, template_id }: Pick<TemplateVersionRow, 'kind' | 'template_id'>,
  content: SourceContent | ConnectionContent,
  configuration: Configuration,
): Record<string, unknown> {
  return { ...content, [configurationField[kind]]: withFingerprints(ctx, definition, template_id, configuration) };
}

/** Without the connector's definition nobody knows what is secret, so everything is treated as secret. */
export function withFingerprints(
  { sealer }: { sealer: Sealer },
  definition: Definition | undefined,
  id: string,
  configuration: Configuration,
): Configuration {
  const specification = definition?.specification.connectionSpecification ?? allSecret(configuration);
  return replaceSecrets(specification, configuration, (secret) =>
    secret === null ? null : `fingerprint:${sealer.fingerprint(JSON.stringify(secret), id)}`,
  );
}

/** Every path where the two differ, descending into objects on both sides. */
export function differences(before: unknown, after: unknown, path: string[] = []): TemplateChange[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) {
    return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
  }
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => differences(memberOf(before, key), memberOf(after, key), [...path, key]));
}

function memberOf(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
