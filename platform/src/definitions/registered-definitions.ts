/*
 * Connectors that the operator adds to this machine: any program that speaks the connector protocol, or a container
 * image of one. Whoever registers one runs programs as this service's user, so this is for the command line and is
 * behind no API.
 *
 * Always true: a registered connector has answered `spec` with a specification that can be used, and is not removed
 * while a source or destination is made from it.
 */

import type { Platform } from '../context.ts';
import { Problem, resourceNotFound } from '../problems.ts';
import type { ConnectorSpecification } from '../protocol.ts';
import { connectorProgram, type Launch } from '../runner/programs.ts';
import { compiled } from './configuration.ts';
import { type ConnectorKind, type Definition, getDefinition, listDefinitions } from './definitions.ts';

export interface Registration {
  kind: ConnectorKind;
  name: string;
  launch: Exclude<Launch, { type: 'bundled' }>;
}

/** Throws a RunFailure when the connector does not answer, a Problem when its answer cannot be used. */
export async function registerDefinition(
  platform: Platform,
  { kind, name, launch }: Registration,
): Promise<Definition> {
  if (launch.type === 'image' && !/^[a-z0-9][\w./:@-]*$/i.test(launch.image)) {
    throw new Problem('unprocessable-entity', { message: `${launch.image} is not the name of an image.` });
  }
  // It belongs to no workspace yet, and to write down its specification it needs no folder.
  const surroundings = { ...platform.surroundings, workspaceDir: '' };
  const specification = await platform.runner.readSpecification(connectorProgram(launch, kind, surroundings));
  requireUsable(specification);
  const definitionId = platform.newId();
  await platform.store
    .insertInto('registered_definitions')
    .values({
      definition_id: definitionId,
      kind,
      name,
      command: launch.type === 'command' ? JSON.stringify(launch.command) : null,
      image: launch.type === 'image' ? launch.image : null,
      specification: JSON.stringify(specification),
      created_at: platform.now(),
    })
    .execute();
  return getDefinition(platform, kind, definitionId);
}

export async function listRegisteredDefinitions(platform: Platform): Promise<Definition[]> {
  return (await listDefinitions(platform)).filter(({ launch }) => launch !== undefined && launch.type !== 'bundled');
}

export async function removeDefinition({ store }: Platform, definitionId: string): Promise<void> {
  await store.transaction().execute(async (trx) => {
    const users = await trx
      .selectFrom('connectors')
      .select('name')
      .where('definition_id', '=', definitionId.toLowerCase())
      .where('deleted_at', 'is', null)
      .execute();
    if (users.length > 0) {
      const names = users.map(({ name }) => name).join(', ');
      throw new Problem('state-conflict', { message: `The connector is in use by: ${names}.` });
    }
    const { numDeletedRows } = await trx
      .deleteFrom('registered_definitions')
      .where('definition_id', '=', definitionId.toLowerCase())
      .executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) throw resourceNotFound('definition', definitionId);
  });
}

function requireUsable({ connectionSpecification }: ConnectorSpecification): void {
  try {
    compiled(connectionSpecification);
  } catch (cause) {
    const message = `The connector's specification is no valid JSON Schema: ${(cause as Error).message}`;
    throw new Problem('unprocessable-entity', { message }, { cause });
  }
}
