/** The SQL of `credential_turns`. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';

interface Turn {
  holder: string;
  expires_at: number;
}

export async function findTurn(tx: Db, workspaceId: string, credentialId: string): Promise<Turn | undefined> {
  return await tx
    .selectFrom('credential_turns')
    .select(['holder', 'expires_at'])
    .where('workspace_id', '=', workspaceId)
    .where('credential_id', '=', credentialId)
    .executeTakeFirst();
}

export async function putTurn(tx: Db, workspaceId: string, credentialId: string, turn: Turn): Promise<void> {
  await tx
    .insertInto('credential_turns')
    .values({ workspace_id: workspaceId, credential_id: credentialId, ...turn })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'credential_id']).doUpdateSet(turn))
    .execute();
}

export async function prolongTurn(db: Db, workspaceId: string, holder: string, turnMs: number): Promise<void> {
  await db
    .updateTable('credential_turns')
    .set({ expires_at: sql<number>`now_ms() + cast(${turnMs} as bigint)` })
    .where('workspace_id', '=', workspaceId)
    .where('holder', '=', holder)
    .execute();
}

export async function deleteTurn(db: Db, workspaceId: string, holder: string): Promise<void> {
  await db
    .deleteFrom('credential_turns')
    .where('workspace_id', '=', workspaceId)
    .where('holder', '=', holder)
    .execute();
}
