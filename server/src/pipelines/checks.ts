/**
 * Checks: whether a source would work with a configuration, before the configuration is saved. Running a connector
 * takes a while, so one request starts the check, and a later request, to any replica, asks for the result. The
 * configuration is not kept. Where the platform needs a source to check, that source is deleted again, by the check
 * itself or, if that fails, by the housekeeping. Workspaces take turns, and the number of waiting checks of one
 * workspace is limited.
 */
import type { Check, CheckSourceRequest, RecheckSourceRequest } from '@inlay/contract/sources';
import { definitionOf, getDefinition } from '../definitions/definitions.ts';
import { openManifest } from '../definitions/own-definitions.ts';
import { openConfiguration } from '../definitions/sealed-configuration.ts';
import { AppError } from '../errors.ts';
import type { CheckedConnector } from '../platform/pipelines-port.ts';
import { PlatformError } from '../platform/platform-port.ts';
import { openDefaults, type SourceTemplate } from '../templates/source-templates.ts';
import { holdLiveWorkspace } from '../workspaces/live-workspaces.ts';
import * as checks from './checks.store.ts';
import { interrupted, patienceMs, startInTurn } from './checks-in-turn.ts';
import { mergeWithDefaults } from './configuration.ts';
import type { PipelinesContext, Scope } from './context.ts';
import { type ConfigurationParts, failureTexts, warningsFor } from './failure-texts.ts';
import { assertSignedIn, configuredFor, ensureOwnCredential, hasOwnTokens } from './signed-in.ts';
import { getOffered, versionedTemplateOf } from './source-template.ts';
import { accept, type GivenValues, getSource } from './sources.ts';
import { type AudienceWarnings, sameForBoth } from './two-texts.ts';

const unavailable = 'The platform could not run the check. Try again later.';
const refused = 'The platform did not accept the configuration.';

export async function checkNewSource(
  ctx: PipelinesContext,
  scope: Scope,
  request: CheckSourceRequest,
): Promise<string> {
  const template = await getOffered(ctx, scope, request.source_template_id);
  const credentialId = request.credential_id ?? null;
  assertSignedIn(template, credentialId);
  const values = { given: request.source_config ?? {}, stored: {}, credentialId, isNew: true };
  return await startCheck(ctx, scope, template, values);
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
  return await startCheck(ctx, scope, template, { given: given ?? stored, stored, credentialId, isNew });
}

async function startCheck(
  ctx: PipelinesContext,
  { organizationId, workspaceId }: Scope,
  template: SourceTemplate,
  values: GivenValues,
): Promise<string> {
  const credential = (await ownCredential(ctx, { organizationId, workspaceId }, template)) ?? values.credentialId;
  const given = await accept(ctx, template, values);
  const definition = await getDefinition(ctx.templates, definitionOf(template));
  const { specification, ownVersion } = definition;
  const connector =
    ownVersion === undefined
      ? { definitionId: definition.id }
      : { manifest: await openManifest(ctx, organizationId, definition.id, ownVersion) };
  const id = ctx.runtime.newId();
  const parts = { specification, defaults: openDefaults(ctx.templates, template), given };
  const merged = mergeWithDefaults(given, parts.defaults);
  const configured = configuredFor(specification, template, merged, credential);
  const { db } = ctx.store;
  if (values.credentialId !== null && values.isNew) {
    await ctx.credentials.hold(db, { organizationId, workspaceId, id: values.credentialId, templateId: template.id });
  }
  await startInTurn(ctx, workspaceId, {
    record: () => checks.insertCheck(db, { id, organizationId, workspaceId, patienceMs }),
    renew: () => checks.renewCheck(db, workspaceId, id, patienceMs),
    run: async () => {
      const outcome = await run(ctx, id, { workspaceId, ...configured, ...connector }, parts);
      await checks.finishCheck(db, workspaceId, id, outcome);
    },
  });
  return id;
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
): Promise<checks.CheckEnd> {
  try {
    const outcome = await ctx.platform.checkSource(id, connector);
    const texts = outcome.status === 'failed' ? failureTexts(outcome.failure, parts) : null;
    const warnings = outcome.status === 'succeeded' && outcome.warnings ? warningsFor(outcome.warnings, parts) : null;
    return { status: outcome.status, texts, warnings, mayLinger: outcome.leftSource };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    ctx.log.warn({ err: error }, 'a check could not be run');
    const isRefused = error.failure === 'rejected' && !error.isConflict;
    const texts = sameForBoth(isRefused ? refused : unavailable);
    return { status: 'failed', texts, warnings: null, mayLinger: !isRefused };
  }
}

export async function getCheck(
  ctx: PipelinesContext,
  { organizationId, workspaceId, audience }: Scope,
  id: string,
): Promise<Check> {
  const row = await checks.findCheck(ctx.store.db, workspaceId, id);
  if (!row) {
    const isElsewhere = await checks.existsCheck(ctx.store.db, organizationId, id);
    throw new AppError(isElsewhere ? 'forbidden' : 'check_not_found');
  }
  const isInterrupted = row.status === 'running' && row.expires_at <= row.now;
  if (isInterrupted) return { id, status: 'failed', error_message: interrupted };
  const warnings = row.warnings === null ? [] : (JSON.parse(row.warnings) as AudienceWarnings)[audience];
  return {
    id,
    status: row.status,
    error_message: audience === 'operator' ? row.error_message : row.customer_message,
    ...(warnings.length > 0 && { warnings }),
  };
}
