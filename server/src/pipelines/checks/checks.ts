/**
 * Checks: whether a source would work with a configuration, before the configuration is saved. Running a connector
 * takes a while, so one request starts the check, and a later request, to any replica, asks for the result. The
 * configuration is not kept. Where the platform needs a source to check, that source is deleted again, by the check
 * itself or, if that fails, by the housekeeping. Workspaces take turns, and the number of waiting checks of one
 * workspace is limited.
 */
import type { Check, CheckSourceRequest, RecheckSourceRequest } from '@inlay/contract/pipelines/sources';
import { definitionOf, getDefinition } from '../../catalog/definitions/definitions.ts';
import { openConfiguration } from '../../catalog/definitions/sealed-configuration.ts';
import { openDefaults, type SourceTemplate } from '../../catalog/templates/source-templates.ts';
import { ensureOwnCredential, holdCredential } from '../../credentials/tokens/credentials.ts';
import type { CheckedConnector } from '../../kernel/platform/pipelines-port.ts';
import { holdLiveWorkspace } from '../../tenancy/workspaces/live-workspaces.ts';
import { mergeWithDefaults } from '../configuration.ts';
import type { PipelinesContext, Scope } from '../context.ts';
import { type ConfigurationParts, failureTexts, warningsFor } from '../failure-texts.ts';
import { assertSignedIn, configuredFor, hasOwnTokens } from '../signed-in.ts';
import { getOffered, versionedTemplateOf } from '../source-template.ts';
import { accept, type GivenValues, getSource } from '../sources/sources.ts';
import type { CheckEnd } from './checks.store.ts';
import { connectorOf, readCheck, startCheck, whyNotRun } from './checks-in-turn.ts';

export async function checkNewSource(
  ctx: PipelinesContext,
  scope: Scope,
  request: CheckSourceRequest,
): Promise<string> {
  const template = await getOffered(ctx, scope, request.source_template_id);
  const credentialId = request.credential_id ?? null;
  assertSignedIn(template, credentialId);
  const values = { given: request.source_config ?? {}, stored: {}, credentialId, isNew: true };
  return await startSourceCheck(ctx, scope, template, values);
}

/** Checks a source with the given configuration, or with the configuration that the source has. */
export async function checkSource(
  ctx: PipelinesContext,
  scope: Scope,
  sourceId: string,
  { source_config: given, credential_id: chosen }: RecheckSourceRequest,
): Promise<string> {
  const row = await getSource(ctx, scope, sourceId);
  const stored = openConfiguration(ctx.sealer, 'source', row.id, row.sealed_config);
  const template = await versionedTemplateOf(ctx, row);
  const credentialId = chosen ?? row.credential_id;
  const isNew = credentialId !== row.credential_id;
  if (isNew) assertSignedIn(template, credentialId);
  return await startSourceCheck(ctx, scope, template, { given: given ?? stored, stored, credentialId, isNew });
}

async function startSourceCheck(
  ctx: PipelinesContext,
  scope: Scope,
  template: SourceTemplate,
  values: GivenValues,
): Promise<string> {
  const { organizationId, workspaceId } = scope;
  const credential = (await ownCredential(ctx, { organizationId, workspaceId }, template)) ?? values.credentialId;
  const given = await accept(ctx, scope, template, values);
  const definition = await getDefinition(ctx.templates, definitionOf(template));
  const { specification } = definition;
  const connector = await connectorOf(ctx, organizationId, definition);
  const parts = { specification, defaults: openDefaults(ctx.templates, template), given };
  const merged = mergeWithDefaults(given, parts.defaults);
  const configured = configuredFor(specification, template, merged, credential);
  const { db } = ctx.store;
  if (values.credentialId !== null && values.isNew) {
    await holdCredential(db, {
      organizationId,
      workspaceId,
      credentialId: values.credentialId,
      templateId: template.id,
    });
  }
  return await startCheck(ctx, { organizationId, workspaceId }, (id) =>
    run(ctx, id, { workspaceId, ...configured, ...connector }, parts),
  );
}

/** A check needs it before there is a source. */
async function ownCredential(
  ctx: PipelinesContext,
  { organizationId, workspaceId }: Pick<Scope, 'organizationId' | 'workspaceId'>,
  template: SourceTemplate,
): Promise<string | undefined> {
  if (!hasOwnTokens(template)) return undefined;
  return await ctx.store.transaction(async (tx) => {
    await holdLiveWorkspace(tx, organizationId, workspaceId);
    return await ensureOwnCredential(ctx, tx, { organizationId, workspaceId }, template);
  });
}

async function run(
  ctx: PipelinesContext,
  id: string,
  connector: CheckedConnector,
  parts: ConfigurationParts,
): Promise<CheckEnd> {
  try {
    const outcome = await ctx.platform.checkSource(id, connector);
    const texts = outcome.status === 'failed' ? failureTexts(outcome.failure, parts) : null;
    const warnings = outcome.status === 'succeeded' && outcome.warnings ? warningsFor(outcome.warnings, parts) : null;
    return {
      status: outcome.status,
      error_message: texts?.operator ?? null,
      customer_message: texts?.customer ?? null,
      reasons: texts && JSON.stringify(texts.reasons),
      warnings: warnings && JSON.stringify(warnings),
      may_linger: outcome.leftSource ? 1 : 0,
    };
  } catch (error) {
    const { isRefused, texts } = whyNotRun(ctx, error);
    return {
      status: 'failed',
      error_message: texts.operator,
      customer_message: texts.customer,
      reasons: JSON.stringify(texts.reasons),
      warnings: null,
      may_linger: isRefused ? 0 : 1,
    };
  }
}

export async function getCheck(
  ctx: PipelinesContext,
  { organizationId, workspaceId, audience }: Scope,
  id: string,
): Promise<Check> {
  return await readCheck(ctx, { id, organizationId, workspaceId }, audience);
}
