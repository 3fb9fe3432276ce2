/**
 * Repeats, on restored data, what an exported audit trail says was deleted or revoked since the backup. Each repetition is a change
 * of its own, which the restored trail records. Everything else in the export is lost.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { Store } from '../../kernel/db/open.ts';
import { OperatorError } from '../../kernel/errors.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { Journal } from '../../log/events/journal.ts';
import { readTrails } from '../../log/events/restored-positions.worker.ts';
import { listOrganizationIds } from '../../tenancy/organizations/organizations.ts';
import { createOperatorTokens } from '../../tenancy/tokens/operator-tokens.ts';
import { revokeTokenById } from '../../tenancy/tokens/scoped-tokens.ts';
import { listSigningKeys, removeSigningKey, rotateSigningKeys } from '../../tenancy/tokens/signing-keys.ts';
import { deleteLater, revokeIssuedTokens } from '../../tenancy/workspaces/workspaces.ts';

const place = { organization_id: Type.String(), position: Type.Integer(), id: Type.String() };
const Entry = Type.Object({ ...place, type: Type.String() });
const ofWorkspace = { ...place, workspace_id: Type.String() };
const Deletion = Type.Object({
  ...ofWorkspace,
  type: Type.Union([Type.Literal('workspace.deletion_requested'), Type.Literal('workspace.deleted')]),
});
const Revocation = Type.Union([
  Type.Object({
    ...ofWorkspace,
    type: Type.Literal('token.revoked'),
    data: Type.Object({ token_id: Type.Union([Type.String(), Type.Null()]) }),
  }),
  Type.Object({
    ...place,
    type: Type.Literal('operator_token.revoked'),
    data: Type.Object({ operator_token: Type.Object({ id: Type.String() }) }),
  }),
  Type.Object({
    ...place,
    type: Type.Literal('key.removed'),
    data: Type.Object({ key: Type.Object({ id: Type.String() }) }),
  }),
]);
export type Replayed = Static<typeof Deletion> | Static<typeof Revocation>;

export interface Replay {
  /** Workspaces that are being deleted again. The reconciler deletes them on the platform. */
  deleted: number;
  revoked: number;
}

/** Throws unless every line is an entry. */
export async function readReplay(file: string): Promise<Replayed[]> {
  const found: Replayed[] = [];
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  let number = 0;
  try {
    for await (const line of lines) {
      number += 1;
      if (line.trim() === '') continue;
      const entry: unknown = JSON.parse(line);
      if (!Value.Check(Entry, entry)) throw new Error('not an entry of the audit trail');
      if (Value.Check(Deletion, entry) || Value.Check(Revocation, entry)) found.push(entry);
    }
  } catch (error) {
    const line = number === 0 ? '' : `, line ${number}`;
    throw new OperatorError(
      `Cannot read ${file}${line}: ${(error as Error).message}. Pass a file from inlay audit export.`,
    );
  }
  return found;
}

interface ReplayContext {
  /** Inside the transaction of the restore. */
  store: Store;
  runtime: Runtime;
  sealer: Sealer;
  journal: Journal;
}

export async function replay(ctx: ReplayContext, entries: readonly Replayed[]): Promise<Replay> {
  const { store } = ctx;
  if (entries.length === 0) return { deleted: 0, revoked: 0 };
  const has = await readTrails(store.db, await listOrganizationIds(store.db));
  const done: Replay = { deleted: 0, revoked: 0 };
  for (const entry of entries) {
    if (has(entry)) continue;
    if (Value.Check(Deletion, entry)) {
      if (await deleteLater(ctx, entry.organization_id, entry.workspace_id)) done.deleted += 1;
    } else if (await revoke(ctx, entry)) done.revoked += 1;
  }
  return done;
}

async function revoke(ctx: ReplayContext, entry: Static<typeof Revocation>): Promise<boolean> {
  const { store, runtime, sealer, journal } = ctx;
  const { organization_id: organizationId } = entry;
  if (entry.type === 'operator_token.revoked') {
    const tokens = createOperatorTokens(store, runtime, journal);
    const { id } = entry.data.operator_token;
    const known = (await tokens.list(organizationId)).find((token) => token.id === id);
    if (!known || known.revoked_at !== null) return false;
    await tokens.revoke(organizationId, id);
    return true;
  }
  if (entry.type === 'key.removed') {
    const options = { store, sealer, journal, listOrganizationIds };
    const { id } = entry.data.key;
    const known = (await listSigningKeys(store)).find(({ kid }) => kid === id);
    if (known?.retired_at === null) await rotateSigningKeys(options);
    return known !== undefined && (await removeSigningKey(options, id));
  }
  const { workspace_id: workspaceId, data } = entry;
  if (data.token_id !== null) return await revokeTokenById(ctx, { organizationId, workspaceId, jti: data.token_id });
  return await revokeIssuedTokens(ctx, organizationId, workspaceId);
}
