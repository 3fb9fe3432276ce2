/*
 * Sources and destinations. They are one thing under two names, a configured connector of a workspace, so there is one
 * set of rules with the kind as a parameter; an id of one kind is never found as the other.
 *
 * Always true: a stored configuration satisfied its connector's specification when it was stored, carries no
 * `sourceType` or `destinationType`, is sealed, and is shown with its secrets masked. Whether the connector can reach anything
 * with it is not checked here.
 */
import {
  type Configuration,
  keepMaskedSecrets,
  maskSecrets,
  mergeConfiguration,
} from '@inlay/contract/connector-configuration';
import Type, { type Static } from 'typebox';
import type { Platform } from '../context.ts';
import type { ConnectorRow, Store } from '../db/open.ts';
import { checkConfiguration } from '../definitions/configuration.ts';
import {
  type ConnectorKind,
  type Definition,
  findDefinition,
  getDefinition,
  listDefinitions,
} from '../definitions/definitions.ts';
import { isListed, type ListQuery, Uuid } from '../http/paging.ts';
import { Problem, resourceNotFound } from '../problems.ts';
import { getWorkspace, Name } from '../workspaces/workspaces.ts';
import { openConfiguration, type Sealer, sealConfiguration } from './sealed-configuration.ts';

const AnyObject = Type.Record(Type.String(), Type.Unknown());

export const ConnectorCreate = Type.Object({
  name: Name,
  workspaceId: Uuid,
  definitionId: Type.Optional(Uuid),
  configuration: AnyObject,
  resourceAllocation: Type.Optional(AnyObject),
});
export type ConnectorCreate = Static<typeof ConnectorCreate>;

export const ConnectorPatch = Type.Object({
  name: Type.Optional(Name),
  configuration: Type.Optional(AnyObject),
  resourceAllocation: Type.Optional(AnyObject),
});
export type ConnectorPatch = Static<typeof ConnectorPatch>;

export const ConnectorPut = Type.Object({
  name: Name,
  configuration: AnyObject,
  resourceAllocation: Type.Optional(AnyObject),
});
export type ConnectorPut = Static<typeof ConnectorPut>;

export async function createConnector(platform: Platform, kind: ConnectorKind, request: ConnectorCreate) {
  const definition = await chooseDefinition(platform, kind, request);
  const configuration = acceptConfiguration(definition, request.configuration, {});
  const id = platform.newId();
  return platform.store.transaction().execute(async (trx) => {
    const workspace = await getWorkspace(trx, request.workspaceId);
    return trx
      .insertInto('connectors')
      .values({
        connector_id: id,
        kind,
        workspace_id: workspace.workspace_id,
        definition_id: definition.definitionId,
        name: request.name,
        configuration: sealConfiguration(platform.sealer, id, configuration),
        resource_allocation: request.resourceAllocation ? JSON.stringify(request.resourceAllocation) : null,
        created_at: platform.now(),
        deleted_at: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

export async function listConnectors({ store }: Platform, kind: ConnectorKind, query: ListQuery) {
  return store
    .selectFrom('connectors')
    .selectAll()
    .where('kind', '=', kind)
    .where(isListed(query))
    .orderBy('seq')
    .limit(query.limit)
    .offset(query.offset)
    .execute();
}

export async function getConnector(store: Store, kind: ConnectorKind, connectorId: string): Promise<ConnectorRow> {
  const connector = await store
    .selectFrom('connectors')
    .selectAll()
    .where('kind', '=', kind)
    .where('connector_id', '=', connectorId.toLowerCase())
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!connector) throw resourceNotFound(kind, connectorId);
  return connector;
}

/** The configuration is merged into the stored one, deep. */
export async function patchConnector(platform: Platform, kind: ConnectorKind, id: string, patch: ConnectorPatch) {
  return changeConnector(platform, kind, id, patch, mergeConfiguration);
}

/** The configuration replaces the stored one; only masked secrets are kept. */
export async function putConnector(platform: Platform, kind: ConnectorKind, id: string, put: ConnectorPut) {
  return changeConnector(platform, kind, id, put, (_stored, given) => given);
}

async function changeConnector(
  platform: Platform,
  kind: ConnectorKind,
  connectorId: string,
  change: ConnectorPatch,
  combine: (stored: Configuration, given: Configuration) => Configuration,
): Promise<ConnectorRow> {
  const definitions = await listDefinitions(platform);
  return platform.store.transaction().execute(async (trx) => {
    const connector = await getConnector(trx, kind, connectorId);
    const changes: Partial<ConnectorRow> = { name: change.name ?? connector.name };
    if (change.resourceAllocation) changes.resource_allocation = JSON.stringify(change.resourceAllocation);
    if (change.configuration) {
      const definition = findDefinition(definitions, kind, connector.definition_id);
      if (!definition) throw resourceNotFound(`${kind}_definition`, connector.definition_id);
      const stored = openConfiguration(platform.sealer, connector);
      const accepted = acceptConfiguration(definition, combine(stored, change.configuration), stored);
      changes.configuration = sealConfiguration(platform.sealer, connector.connector_id, accepted);
    }
    return trx
      .updateTable('connectors')
      .set(changes)
      .where('connector_id', '=', connector.connector_id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

export function showConnector(sealer: Sealer, definitions: readonly Definition[], connector: ConnectorRow) {
  const { kind } = connector;
  const definition = findDefinition(definitions, kind, connector.definition_id);
  return {
    [`${kind}Id`]: connector.connector_id,
    name: connector.name,
    [`${kind}Type`]: definition?.slug ?? '',
    definitionId: connector.definition_id,
    workspaceId: connector.workspace_id,
    configuration: configurationWithoutSecrets(sealer, definition, connector),
    createdAt: Math.floor(connector.created_at / 1000),
    ...(connector.resource_allocation !== null && { resourceAllocation: JSON.parse(connector.resource_allocation) }),
  };
}

/** Without the definition nobody knows which values are secret, so nothing is given out. */
export function configurationWithoutSecrets(
  sealer: Sealer,
  definition: Definition | undefined,
  connector: ConnectorRow,
): Configuration {
  if (!definition) return {};
  return maskSecrets(definition.specification.connectionSpecification, openConfiguration(sealer, connector));
}

export async function chooseDefinition(
  platform: Platform,
  kind: ConnectorKind,
  request: { definitionId?: string; configuration: Configuration },
): Promise<Definition> {
  if (request.definitionId !== undefined) return getDefinition(platform, kind, request.definitionId);
  const slug = request.configuration[`${kind}Type`];
  if (typeof slug !== 'string') {
    throw new Problem('unprocessable-entity', {
      message: `Name the connector: definitionId or configuration.${kind}Type is needed.`,
    });
  }
  const definition = platform.bundledDefinitions.find((known) => known.kind === kind && known.slug === slug);
  if (!definition) throw new Problem('value-not-found', { value: slug });
  return definition;
}

/** The configuration to use, with the secrets that `stored` has and the given one only masks; throws if it is not valid. */
export function acceptConfiguration(definition: Definition, given: Configuration, stored: Configuration) {
  const { [`${definition.kind}Type`]: _slug, ...own } = given;
  const configuration = keepMaskedSecrets(definition.specification.connectionSpecification, own, stored);
  checkConfiguration(definition.specification.connectionSpecification, configuration);
  return configuration;
}
