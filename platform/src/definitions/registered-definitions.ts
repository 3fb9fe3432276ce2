/**
 * Connectors that the operator adds to this machine: any program that speaks the connector protocol, or a container
 * image of one. A registered connector runs programs as this service's user, so registering is for the command line and is
 * behind no API.
 *
 * What always holds: a registered connector has answered `spec` with a specification that can be used, and is not removed
 * while a source or destination is made from it.
 */
import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { Problem, resourceNotFound } from '../problems.ts';
import type { ConnectorSpecification } from '../protocol.ts';
import { findProgram, isFolder } from '../runner/find-program.ts';
import { connectorProgram, type Launch } from '../runner/programs.ts';
import { requireSchema } from './configuration.ts';
import type { DefinitionsContext } from './context.ts';
import * as definitions from './definitions.store.ts';
import { type ConnectorKind, type Definition, getDefinition, listDefinitions } from './definitions.ts';

export interface Registration {
  kind: ConnectorKind;
  name: string;
  launch: Exclude<Launch, { type: 'bundled' }>;
}

/** Throws a RunFailure when the connector does not answer, a Problem when its answer cannot be used. */
export async function registerDefinition(
  ctx: DefinitionsContext,
  { kind, name, launch: given }: Registration,
): Promise<Definition> {
  if (given.type === 'image' && !/^[a-z0-9][\w./:@-]*$/i.test(given.image)) {
    throw unusable(`${given.image} is not the name of an image.`);
  }
  // It belongs to no workspace yet, and to write down its specification it needs no folder.
  const surroundings = { ...ctx.surroundings, workspaceDir: '' };
  const launch = given.type === 'command' ? findCommand(given) : given;
  const specification = await ctx.runner.readSpecification(connectorProgram(launch, kind, surroundings));
  requireUsable(specification);
  const definitionId = ctx.runtime.newId();
  await definitions.insertRegistered(ctx.store.db, {
    definition_id: definitionId,
    kind,
    name,
    command: launch.type === 'command' ? JSON.stringify(launch.command) : null,
    image: launch.type === 'image' ? launch.image : null,
    folder: launch.type === 'command' ? (launch.folder ?? null) : null,
    specification: JSON.stringify(specification),
    created_at: ctx.runtime.now(),
  });
  return getDefinition(ctx, kind, definitionId);
}

export async function listRegisteredDefinitions(ctx: DefinitionsContext): Promise<Definition[]> {
  return (await listDefinitions(ctx)).filter(({ launch }) => launch !== undefined && launch.type !== 'bundled');
}

export async function removeDefinition(ctx: DefinitionsContext, definitionId: string): Promise<void> {
  const id = definitionId.toLowerCase();
  await ctx.store.transaction(async (tx) => {
    const users = await ctx.listUsers(tx, id);
    if (users.length > 0) {
      throw new Problem('state-conflict', { message: `The connector is in use by: ${users.join(', ')}.` });
    }
    if (!(await definitions.deleteRegistered(tx, id))) throw resourceNotFound('definition', definitionId);
  });
}

type CommandLaunch = Extract<Launch, { type: 'command' }>;

/** The program by its full path, unless it is found in PATH: the service does not run in the folder of the caller. */
function findCommand({ command: [program, ...args], folder, ...launch }: CommandLaunch): CommandLaunch {
  if (folder !== undefined && !(isAbsolute(folder) && isFolder(folder))) {
    throw unusable(`${folder} is not the full path of a folder.`);
  }
  const isRelative = program.includes('/') && !isAbsolute(program);
  if (isRelative && folder === undefined)
    throw unusable(`${program} is not a full path. Give the program's full path.`);
  const found = isRelative ? resolve(folder ?? '', program) : program;
  if (findProgram(found, process.env.PATH) === undefined) {
    const place = found.includes('/') ? `at ${found}` : `called ${found} in PATH`;
    const mayMean = folder !== undefined && !found.includes('/') && existsSync(resolve(folder, found));
    const advice = mayMean
      ? `For the file in ${folder}, write ./${found}.`
      : 'Check the path, and that this user may execute the file.';
    throw unusable(`There is no program ${place}. ${advice}`);
  }
  return { ...launch, command: [found, ...args], ...(folder !== undefined && { folder }) };
}

function unusable(message: string): Problem {
  return new Problem('unprocessable-entity', { message });
}

function requireUsable({ connectionSpecification }: ConnectorSpecification): void {
  try {
    requireSchema(connectionSpecification);
  } catch (cause) {
    const message = `The connector's specification is no valid JSON Schema: ${(cause as Error).message}`;
    throw new Problem('unprocessable-entity', { message }, { cause });
  }
}
