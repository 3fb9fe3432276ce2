/**
 * The commands of the audit trail: verify it, export it, sign it now, erase what it says of persons. They read the store, as
 * the other commands do. An export can be verified on another machine, without a store.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type AuditCheckpoint, AuditCheckpoint as CheckpointSchema } from '@inlay/contract/audit';
import { Value } from 'typebox/value';
import { type AuditKeysContext, ownKeySet, rotateAuditKey } from '../audit/audit-keys.ts';
import { keySetOf } from '../audit/checkpoints.ts';
import { type ExportFormat, writeExport } from '../audit/export.ts';
import { signNow } from '../audit/signing.ts';
import { erase, exportTrail, listCheckpoints, type TrailReader } from '../audit/trail.ts';
import { createVerifier, type Kept, type Verification } from '../audit/verify.ts';
import { verifyDatabase } from '../audit/verify-database.ts';
import { byCommandLine } from '../cause.ts';
import { readConfig } from '../config.ts';
import { openDataDir } from '../data-dir.ts';
import type { Store } from '../db/open.ts';
import { openSealer } from '../encryption-keys.ts';
import { AppError, OperatorError } from '../errors.ts';
import { createJournal } from '../events/journal.ts';
import { listOrganizationIds } from '../organizations/organizations.ts';
import { systemRuntime } from '../runtime.ts';
import { chosenOrganization, withStoreAsItIs } from './opened-store.ts';
import { coloured, plain, print } from './output.ts';

const journal = createJournal({ runtime: systemRuntime, cause: byCommandLine });

interface Chosen {
  organization?: string;
}

function contextOf(store: Store): AuditKeysContext {
  const { config, secrets } = readConfig(process.env);
  return { store, sealer: openSealer(secrets, openDataDir(config.dataDir)), journal, listOrganizationIds };
}

export async function verifyTrail(
  file: string | undefined,
  options: Chosen & { checkpoint?: string[]; json?: true },
): Promise<void> {
  const kept = readKept(options.checkpoint ?? []);
  const result = file === undefined ? await verifyStore(options, kept) : await verifyFile(file, kept);
  if (options.json) print(JSON.stringify(result));
  else show(result);
  if (result.faults.length > 0) process.exitCode = 2;
}

/**
 * Files that somebody has kept: what /.well-known/inlay/audit-checkpoints answered, an event or a webhook of a checkpoint,
 * or the checkpoint itself.
 */
function readKept(files: readonly string[]): Kept {
  const checkpoints: AuditCheckpoint[] = [];
  const jwks: object[] = [];
  for (const file of files) {
    const content = readJson(file);
    const { keys = [], data } = content as { keys?: object[]; data?: unknown };
    const found = [...listed(content, 'checkpoints'), ...listed(content, 'beginning'), data, content];
    const valid = found.filter((one): one is AuditCheckpoint => Value.Check(CheckpointSchema, one));
    if (valid.length === 0) throw new OperatorError(`The file ${file} holds no checkpoint of an audit trail.`);
    checkpoints.push(...valid);
    jwks.push(...keys);
  }
  return { checkpoints, keys: keySetOf(jwks) };
}

function listed(content: unknown, member: string): unknown[] {
  const value = (content as Record<string, unknown>)[member];
  return Array.isArray(value) ? value : [value];
}

function readJson(file: string): object {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof content === 'object' && content !== null) return content;
  } catch (error) {
    throw new OperatorError(`The file ${file} cannot be read: ${(error as Error).message}`);
  }
  throw new OperatorError(`The file ${file} holds no checkpoint of an audit trail.`);
}

async function verifyFile(file: string, { checkpoints, keys }: Kept): Promise<Verification> {
  const verifier = createVerifier({ checkpoints, keys });
  const handle = await open(file).catch((error: Error) => {
    throw new OperatorError(`The file ${file} cannot be read: ${error.message}`);
  });
  await handle.close();
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() !== '') verifier.add(parsed(line));
  }
  return verifier.end();
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function verifyStore(options: Chosen, kept: Kept): Promise<Verification> {
  let result: Verification | undefined;
  await withStoreAsItIs(async (store) => {
    const { sealer } = contextOf(store);
    result = await verifyDatabase(
      store,
      await chosenOrganization(store, options),
      await ownKeySet(store.db, sealer),
      kept,
    );
  });
  return result as Verification;
}

function show({ faults, entries, last, coveredUntil, withheld, uncheckedSignatures }: Verification): void {
  for (const { position, id, problem } of faults) {
    print(`${coloured(`position ${position}`, 'red')}  ${id === null ? '' : `${plain(id)}  `}${plain(problem)}`);
  }
  if (faults.length > 0) {
    print('', coloured(`The trail was changed: ${faults.length} faults in ${entries} entries.`, 'red'));
    return;
  }
  print(coloured(`${entries} entries up to position ${last.position} are as they were written.`, 'green'));
  if (coveredUntil > 0) print(`Signed checkpoints cover them up to position ${coveredUntil}.`);
  else print('No checkpoint was compared. Give one that you have kept with --checkpoint.');
  if (coveredUntil < last.position) print(`Only the hashes vouch for the entries after position ${coveredUntil}.`);
  if (withheld > 0) print(`${withheld} personal values were erased or withheld.`);
  if (uncheckedSignatures > 0) {
    print(`${uncheckedSignatures} signatures could not be checked: their keys are not among those of --checkpoint.`);
  }
}

type ExportOptions = Chosen & {
  format: ExportFormat;
  output?: string;
  types?: string;
  workspace?: string;
  since?: string;
};

export const exportToFile = (options: ExportOptions) =>
  withStoreAsItIs(async (store) => {
    const organizationId = await chosenOrganization(store, options);
    const { types, workspace: workspaceId, since, format, output } = options;
    if (since !== undefined && Number.isNaN(Date.parse(since))) {
      throw new OperatorError('--since takes a time as in 2026-01-31T09:30:00Z.');
    }
    const reader: TrailReader = { organizationId, workspaceId, isCustomer: false, types, since };
    const lines = writeExport(exportTrail({ store, journal }, reader, { format }), format);
    const file = output === undefined ? undefined : await open(output, 'wx', 0o600).catch(refuseFile(output));
    for await (const text of lines) {
      if (file) await file.write(text);
      else process.stdout.write(text);
    }
    await file?.close();
    if (output !== undefined) print(`Exported to ${output}.`);
  });

const refuseFile = (file: string) => (error: Error) => {
  throw new OperatorError(`The file ${file} cannot be made: ${error.message}`);
};

export const signCheckpointNow = (options: Chosen) =>
  withStoreAsItIs(async (store) => {
    const organizationId = await chosenOrganization(store, options);
    const signed = await signNow(contextOf(store), organizationId);
    const checkpoint = signed ?? (await listCheckpoints(store.db, organizationId, 1)).checkpoints[0];
    if (!checkpoint) throw new OperatorError('There is nothing to sign yet: the trail is empty.');
    print(JSON.stringify(checkpoint));
  });

export const rotateKey = () =>
  withStoreAsItIs(async (store) => {
    print(`New key ${await rotateAuditKey(contextOf(store))}. It signs from now on; old checkpoints stay valid.`);
  });

type ErasureOptions = Chosen & {
  workspace?: string;
  actor?: string;
  address?: string;
  before?: string;
  patches?: true;
};

export const erasePersonalFields = (options: ErasureOptions) =>
  withStoreAsItIs(async (store) => {
    const { workspace, actor, address, before, patches } = options;
    const request = {
      ...(workspace !== undefined && { workspace_id: workspace }),
      ...(actor !== undefined && { actor_id: actor }),
      ...(address !== undefined && { address }),
      ...(before !== undefined && { before }),
      ...(patches && { fields: ['address' as const, 'user_agent' as const, 'patch' as const] }),
    };
    const organizationId = await chosenOrganization(store, options);
    const { erased } = await erase({ store, journal }, organizationId, request).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'invalid_request') {
        throw new OperatorError('Say whose fields to erase: --workspace, --actor or --address.');
      }
      throw error;
    });
    print(`Erased ${erased} values. The chain of hashes stays valid.`);
  });
