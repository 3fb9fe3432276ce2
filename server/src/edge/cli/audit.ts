/**
 * The commands of the audit trail: verify it, export it, sign it now, erase what it says of persons. An export can be
 * verified on another machine, without a store.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type AuditCheckpoint, AuditCheckpoint as CheckpointSchema } from '@inlay/contract/log/audit';
import { Value } from 'typebox/value';
import { byCommandLine } from '../../kernel/cause.ts';
import type { Store } from '../../kernel/db/open.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { type AuditKeysContext, rotateAuditKey } from '../../log/audit/audit-keys.ts';
import { type KeySet, keySetOf } from '../../log/audit/checkpoints.ts';
import { type ExportFormat, writeExport } from '../../log/audit/export.ts';
import { signNow } from '../../log/audit/signing.ts';
import { erase, exportTrail, listCheckpoints, type TrailReader } from '../../log/audit/trail.ts';
import { createVerifier, type Verification } from '../../log/audit/verify.ts';
import { verifyDatabase } from '../../log/audit/verify-database.ts';
import { createJournal } from '../../log/events/journal.ts';
import { listOrganizationIds } from '../../tenancy/organizations/organizations.ts';
import { exitWith, usageError } from './exit-codes.ts';
import { type Here, withInlay } from './inlay.ts';
import { chosenOrganization, openOwnSealer, withStoreAsItIs } from './opened-store.ts';
import { colored, day, plain, print, printJson } from './output.ts';

const journal = createJournal({ runtime: systemRuntime, cause: byCommandLine });

interface Chosen {
  organization?: string;
}

async function contextOf(store: Store): Promise<AuditKeysContext> {
  return { store, sealer: await openOwnSealer(store), journal, listOrganizationIds };
}

export async function verifyTrail(
  file: string | undefined,
  options: Chosen & { checkpoint?: string[]; json?: true },
): Promise<void> {
  const kept = readKept(options.checkpoint ?? []);
  const result = file === undefined ? await verifyStore(options, kept) : await verifyFile(file, kept);
  if (options.json) printJson(result);
  else show(result);
  if (result.faults.length > 0) exitWith('findings');
}

interface Kept {
  checkpoints: AuditCheckpoint[];
  /** Undefined: the files hold none. */
  keys: KeySet | undefined;
}

/**
 * Files that someone has kept: what /.well-known/inlay/audit-checkpoints answered, an event or a webhook of a checkpoint,
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
    const isWhole = Array.isArray(keys) && keySetOf(keys) !== undefined;
    if (!isWhole)
      throw new OperatorError(`${file} contains a key that is damaged or does not belong to an audit trail.`);
    if (valid.length + keys.length === 0) {
      throw new OperatorError(`${file} contains no audit checkpoint.`);
    }
    checkpoints.push(...valid);
    jwks.push(...keys);
  }
  return { checkpoints, keys: jwks.length === 0 ? undefined : keySetOf(jwks) };
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
    throw new OperatorError(`Cannot read ${file}: ${(error as Error).message}`);
  }
  throw new OperatorError(`${file} contains no audit checkpoint.`);
}

async function verifyFile(file: string, { checkpoints, keys }: Kept): Promise<Verification> {
  const verifier = createVerifier({ kept: checkpoints, keys });
  const handle = await open(file).catch((error: Error) => {
    throw new OperatorError(`Cannot read ${file}: ${error.message}`);
  });
  await handle.close();
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() !== '') verifier.add(parsed(line));
  }
  const result = verifier.end();
  if (result.entries > 0) return result;
  return {
    ...result,
    faults: [...result.faults, { position: null, id: null, problem: 'The file contains no entries.' }],
  };
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
    result = await verifyDatabase(await contextOf(store), await chosenOrganization(store, options), kept.checkpoints);
  });
  return result as Verification;
}

function show({ faults, entries, last, coveredUntil, unchained, cut, erased, trustsOwnKeys }: Verification): void {
  for (const { position, id, problem } of faults) {
    const place = position === null ? 'trail' : `position ${position}`;
    print(`${colored(place, 'red')}  ${id === null ? '' : `${plain(id)}  `}${plain(problem)}`);
  }
  if (faults.length > 0) {
    const count = faults.length === 1 ? '1 problem' : `${faults.length} problems`;
    print('', colored(`Verification failed: ${count} in ${entries} entries.`, 'red'));
    return;
  }
  if (entries === 0) {
    print('The trail has no entries yet.');
    return;
  }
  print(colored(`Verified ${entries} entries, up to position ${last.position}.`, 'green'));
  if (coveredUntil === last.position) print('Signed checkpoints cover all entries.');
  else if (coveredUntil > 0) print(`Signed checkpoints cover the trail up to position ${coveredUntil}. ${unsigned}`);
  else print('No signed checkpoint covers the trail yet. Until then, only hashes protect it.');
  if (unchained > 0) print(`${unchained} entries predate the hash chain and are not protected.`);
  if (cut) print(cutText(cut));
  if (erased > 0) print(`${erased} personal values were erased.`);
  if (trustsOwnKeys) {
    print(
      colored('The signatures were checked with keys from the file itself. ', 'yellow') +
        'Pass a checkpoint that you saved earlier with --checkpoint. Without one, a completely forged file would pass.',
    );
  }
}

const unsigned = 'Until the next checkpoint, only hashes protect later entries.';

function cutText({ position, at, retention_days }: NonNullable<Verification['cut']>): string {
  return at === null
    ? `Entries 1 to ${position} were removed by an earlier version that did not record its retention period.`
    : `Retention (${retention_days === 1 ? '1 day' : `${retention_days} days`}) removed entries 1 to ${position} on ${day(at)}.`;
}

type ExportOptions = Chosen & {
  format: ExportFormat;
  output?: string;
  types?: string;
  workspace?: string;
  since?: string;
};

export const exportToFile = (options: ExportOptions) =>
  withInlay(options, async ({ api, here }) => {
    const { types, workspace, since, format, output } = options;
    const query = { format, types, since, workspace_id: workspace };
    const lines = api ? api.download('GET /audit-events/export', { query }) : exportHere(here as Here, options);
    const file = output === undefined ? undefined : await open(output, 'wx', 0o600).catch(refuseFile(output));
    for await (const text of lines) {
      if (file) await file.write(text);
      else process.stdout.write(text);
    }
    await file?.close();
    if (output !== undefined) print(`Exported to ${output}.`);
  });

function exportHere({ store, organizationId }: Here, { types, workspace: workspaceId, since, format }: ExportOptions) {
  const reader: TrailReader = { organizationId, workspaceId, isCustomer: false, types, since };
  return writeExport(exportTrail({ store, journal }, reader, { format }), format);
}

const refuseFile = (file: string) => (error: Error) => {
  throw new OperatorError(`Cannot create ${file}: ${error.message}`);
};

export const signCheckpointNow = (options: Chosen) =>
  withStoreAsItIs(async (store) => {
    const organizationId = await chosenOrganization(store, options);
    const ctx = await contextOf(store);
    const signed = await signNow(ctx, organizationId);
    const checkpoint = signed ?? (await listCheckpoints(ctx, organizationId, 1)).checkpoints[0];
    if (!checkpoint) throw new OperatorError('Nothing to sign yet. The audit trail is empty.');
    print(JSON.stringify(checkpoint));
  });

export const rotateKey = () =>
  withStoreAsItIs(async (store) => {
    const kid = await rotateAuditKey(await contextOf(store));
    print(`Created key ${kid}. New checkpoints are signed with it; earlier ones stay valid.`);
  });

type ErasureOptions = Chosen & {
  workspace?: string;
  actor?: string;
  address?: string;
  before?: string;
  patches?: true;
};

export const erasePersonalFields = (options: ErasureOptions) =>
  withInlay(options, async ({ ask }) => {
    const { workspace, actor, address, before, patches } = options;
    const request = {
      ...(workspace !== undefined && { workspace_id: workspace }),
      ...(actor !== undefined && { actor_id: actor }),
      ...(address !== undefined && { address }),
      ...(before !== undefined && { before }),
      ...(patches && { fields: ['address' as const, 'user_agent' as const, 'patch' as const] }),
    };
    const isChosen = workspace !== undefined || actor !== undefined || address !== undefined;
    if (!isChosen) throw usageError('Choose the entries to erase from with --workspace, --actor or --address.');
    const { erased } = await ask('POST /audit-events/erase', { body: request }, async ({ store, organizationId }) => {
      await openOwnSealer(store);
      return await erase({ store, journal }, organizationId, request);
    });
    print(`Erased ${erased} values. The hash chain stays valid.`);
  });
