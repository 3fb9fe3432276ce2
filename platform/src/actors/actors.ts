/**
 * Sources and destinations. Both are a configured connector of a workspace, so there is one set of rules with the kind as a
 * parameter; an id of one kind is never found as the other.
 *
 * Invariants: a stored configuration satisfied its connector's specification when it was stored, has no `sourceType` or
 * `destinationType`, is sealed, and is returned with masked secrets. No live row refers to a deleted one, and deleting
 * a row erases its secrets. Values from a credential are never stored (actor-credential.ts). checks.ts tests whether a
 * connector works with a configuration.
 */
import {
  type Configuration,
  type JsonSchema,
  keepMaskedSecrets,
  maskSecrets,
  mergeConfiguration,
} from '@inlay/contract/catalog/connector-configuration';
import { redirectedSecrets } from '@inlay/contract/catalog/secret-addresses';
import type { Db } from '../db/open.ts';
import type { ActorRow } from '../db/tables.ts';
import { checkConfiguration } from '../definitions/configuration.ts';
import {
  type ConnectorKind,
  type Definition,
  definitionOf,
  findDefinition,
  getDefinition,
} from '../definitions/definitions.ts';
import type { ListQuery } from '../fields.ts';
import { Problem, resourceNotFound } from '../problems.ts';
import { getWorkspace } from '../workspaces/workspaces.ts';
import { filled, readCredential, withOpenFields, withoutFields } from './actor-credential.ts';
import * as actors from './actors.store.ts';
import { deleteCatalog } from './catalogs.store.ts';
import type { ActorsContext } from './context.ts';
import type { ActorCreate, ActorCredential, ActorPatch, ActorPut } from './requests.ts';
import { openConfiguration, type Sealer, sealConfiguration } from './sealed-configuration.ts';

export async function createActor(ctx: ActorsContext, kind: ConnectorKind, request: ActorCreate): Promise<ActorRow> {
  const definition = await chooseDefinition(ctx, kind, request);
  const credential = acceptCredential(ctx, kind, request.credential) ?? undefined;
  const configuration = acceptConfiguration(definition, request.configuration, {}, { credential });
  const id = ctx.runtime.newId();
  return await ctx.store.transaction(async (tx) => {
    const workspace = await getWorkspace(tx, request.workspaceId);
    return await actors.insertActor(tx, workspace.workspace_id, {
      connector_id: id,
      kind,
      definition_id: definition.definitionId,
      name: request.name,
      configuration: sealConfiguration(ctx.sealer, id, configuration),
      resource_allocation: request.resourceAllocation ? JSON.stringify(request.resourceAllocation) : null,
      credential: credential ? JSON.stringify(credential) : null,
      is_customers_own: Number(request.customersOwn ?? false),
      created_at: ctx.runtime.now(),
      deleted_at: null,
    });
  });
}

export async function listActors(ctx: ActorsContext, kind: ConnectorKind, query: ListQuery): Promise<ActorRow[]> {
  return await actors.listActors(ctx.store.db, kind, query);
}

export async function getActor(db: Db, kind: ConnectorKind, actorId: string): Promise<ActorRow> {
  const actor = await actors.findActorById(db, kind, actorId.toLowerCase());
  if (!actor) throw resourceNotFound(kind, actorId);
  return actor;
}

/** The configuration is merged into the stored one, deep. */
export async function patchActor(ctx: ActorsContext, kind: ConnectorKind, id: string, patch: ActorPatch) {
  return await changeActor(ctx, kind, id, patch, mergeConfiguration);
}

/** The configuration and the credential replace the stored ones; only masked secrets are kept. */
export async function putActor(ctx: ActorsContext, kind: ConnectorKind, id: string, put: ActorPut) {
  const whole = { ...put, credential: put.credential ?? null };
  return await changeActor(ctx, kind, id, whole, (_stored, given) => given);
}

async function changeActor(
  ctx: ActorsContext,
  kind: ConnectorKind,
  actorId: string,
  change: ActorPatch,
  combine: (stored: Configuration, given: Configuration) => Configuration,
): Promise<ActorRow> {
  return await ctx.store.transaction(async (tx) => {
    const actor = await getActor(tx, kind, actorId);
    const { workspace_id, connector_id } = actor;
    const changes: Parameters<typeof actors.updateActor>[3] = { name: change.name ?? actor.name };
    if (change.customersOwn !== undefined) changes.is_customers_own = Number(change.customersOwn);
    if (change.resourceAllocation) changes.resource_allocation = JSON.stringify(change.resourceAllocation);
    const told = acceptCredential(ctx, kind, change.credential);
    if (told !== undefined) changes.credential = told === null ? null : JSON.stringify(told);
    if (change.configuration || told !== undefined) {
      const definition = await getDefinition(ctx.definitions, definitionOf(actor), tx);
      const stored = openConfiguration(ctx.sealer, actor);
      const given = change.configuration ?? stored;
      const credential = (told === undefined ? readCredential(actor) : told) ?? undefined;
      const accepted = acceptConfiguration(definition, given, stored, { combine, credential });
      changes.configuration = sealConfiguration(ctx.sealer, connector_id, accepted);
    }
    const changed = await actors.updateActor(tx, workspace_id, connector_id, changes);
    if (!changed) throw resourceNotFound(kind, actorId);
    return changed;
  });
}

/** A connector may renew its own configuration, a refresh token for instance; it has to be as valid as any other. */
export async function renewConfiguration(
  ctx: ActorsContext,
  tx: Db,
  actor: ActorRow,
  configuration: Configuration,
): Promise<void> {
  const { workspace_id, connector_id } = actor;
  const { specification } = await getDefinition(ctx.definitions, definitionOf(actor), tx);
  const credential = readCredential(actor);
  const kept = credential ? withoutFields(configuration, credential) : configuration;
  requireValid(specification.connectionSpecification, kept, credential);
  const sealed = sealConfiguration(ctx.sealer, connector_id, kept);
  await actors.updateActor(tx, workspace_id, connector_id, { configuration: sealed });
}

/** Deletes its connections too. The row stays as a tombstone, and data at a destination is kept. */
export async function deleteActor(ctx: ActorsContext, kind: ConnectorKind, actorId: string): Promise<void> {
  const deletedAt = ctx.runtime.now();
  await ctx.store.transaction(async (tx) => {
    const actor = await getActor(tx, kind, actorId);
    await ctx.recordConnectionsDeleted(tx, actor, deletedAt);
    await recordDeleted(ctx, tx, [actor], deletedAt);
  });
  ctx.wake();
}

/** All of a workspace, whose connections have been deleted in the same transaction. */
export async function recordActorsDeleted(
  ctx: ActorsContext,
  tx: Db,
  workspaceId: string,
  deletedAt: number,
): Promise<void> {
  await recordDeleted(ctx, tx, await actors.listActorsOf(tx, workspaceId), deletedAt);
}

async function recordDeleted(ctx: ActorsContext, tx: Db, deleted: ActorRow[], deletedAt: number): Promise<void> {
  for (const actor of deleted) {
    const { workspace_id, connector_id } = actor;
    const definition = await findDefinition(ctx.definitions, definitionOf(actor), tx);
    const shown = configurationWithoutSecrets(ctx.sealer, definition, actor);
    await actors.updateActor(tx, workspace_id, connector_id, {
      configuration: sealConfiguration(ctx.sealer, connector_id, shown),
      deleted_at: deletedAt,
    });
    await deleteCatalog(tx, workspace_id, connector_id);
  }
}

export async function presentActors(ctx: ActorsContext, rows: readonly ActorRow[]) {
  const shown: ReturnType<typeof presentActor>[] = [];
  for (const actor of rows) {
    shown.push(presentActor(ctx.sealer, await findDefinition(ctx.definitions, definitionOf(actor)), actor));
  }
  return shown;
}

function presentActor(sealer: Sealer, definition: Definition | undefined, actor: ActorRow) {
  const { kind } = actor;
  return {
    [`${kind}Id`]: actor.connector_id,
    name: actor.name,
    [`${kind}Type`]: definition?.slug ?? '',
    definitionId: actor.definition_id,
    workspaceId: actor.workspace_id,
    configuration: configurationWithoutSecrets(sealer, definition, actor),
    ...(actor.credential !== null && { credential: JSON.parse(actor.credential) }),
    createdAt: Math.floor(actor.created_at / 1000),
    ...(actor.resource_allocation !== null && { resourceAllocation: JSON.parse(actor.resource_allocation) }),
  };
}

/** Without the definition nobody knows which values are secret, so nothing is given out. */
function configurationWithoutSecrets(
  sealer: Sealer,
  definition: Definition | undefined,
  actor: ActorRow,
): Configuration {
  if (!definition) return {};
  return maskSecrets(definition.specification.connectionSpecification, openConfiguration(sealer, actor));
}

export async function chooseDefinition(
  ctx: ActorsContext,
  kind: ConnectorKind,
  request: { definitionId?: string; workspaceId?: string | undefined; configuration: Configuration },
): Promise<Definition> {
  const { definitionId: id, workspaceId } = request;
  if (id !== undefined) return await getDefinition(ctx.definitions, { kind, id, workspaceId });
  const slug = request.configuration[`${kind}Type`];
  if (typeof slug !== 'string') {
    throw new Problem('unprocessable-entity', {
      message: `Specify the connector with definitionId or configuration.${kind}Type.`,
    });
  }
  const definition = ctx.definitions.bundledDefinitions.find((known) => known.kind === kind && known.slug === slug);
  if (!definition) throw new Problem('value-not-found', { value: slug });
  return definition;
}

interface Accepting {
  combine?: (stored: Configuration, given: Configuration) => Configuration;
  credential?: ActorCredential | undefined;
}

/**
 * The configuration to use: masked secrets, or omitted ones when merging, come from `stored`, and fields filled by a
 * credential are removed. Throws if the result is not valid, or if a stored secret would be sent to a different
 * address.
 */
export function acceptConfiguration(
  definition: Definition,
  request: Configuration,
  stored: Configuration,
  { combine = (_stored, given) => given, credential }: Accepting = {},
) {
  const { connectionSpecification } = definition.specification;
  const { [`${definition.kind}Type`]: _slug, ...given } = request;
  const whole = keepMaskedSecrets(connectionSpecification, combine(stored, given), stored);
  const accepted = credential ? withoutFields(whole, credential) : whole;
  const [secret] = redirectedSecrets(connectionSpecification, { given, accepted, before: stored, after: accepted });
  if (secret) {
    const message = `configuration.${secret.join('.')} must be entered again, because an address it is sent to has changed.`;
    throw new Problem('unprocessable-entity', { message });
  }
  requireValid(connectionSpecification, accepted, credential);
  return accepted;
}

function requireValid(
  specification: JsonSchema,
  configuration: Configuration,
  credential: ActorCredential | undefined,
): void {
  if (!credential) checkConfiguration(specification, configuration);
  else checkConfiguration(withOpenFields(specification, credential), filled(configuration, credential));
}

/** Undefined if the request does not mention it; null if the request removes the credential. */
export function acceptCredential(
  ctx: ActorsContext,
  kind: ConnectorKind,
  credential: ActorCredential | null | undefined,
): ActorCredential | null | undefined {
  if (!credential) return credential;
  if (kind !== 'source') {
    throw new Problem('unprocessable-entity', { message: 'Only sources can have a credential.' });
  }
  if (!ctx.credentials) {
    throw new Problem('unprocessable-entity', {
      message: 'This platform has no access to credentials. Set INLAY_SERVICE_URL for the platform.',
    });
  }
  return { ...credential, id: credential.id.toLowerCase() };
}
