/** The SQL that decides whether a signed token is still valid: it looks at the workspace, and at the revoked tokens. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import { prepare } from '../../kernel/db/prepared.ts';

interface TokenStanding {
  lifecycle: 'live' | 'deleting' | 'deleted';
  token_gen: number;
  revoked: boolean;
}

const standing = prepare((db, organizationId: string, workspaceId: string, jti: string) =>
  db
    .selectFrom('workspaces')
    .leftJoin('revoked_tokens', (join) =>
      join.onRef('revoked_tokens.workspace_id', '=', 'workspaces.id').on('revoked_tokens.jti', '=', jti),
    )
    .select(['lifecycle', 'token_gen', 'revoked_tokens.jti as revoked_jti'])
    .where('workspaces.organization_id', '=', organizationId)
    .where('workspaces.id', '=', workspaceId),
);

/** The one read that a request with a scoped token needs. */
export async function findStanding(
  db: Db,
  organizationId: string,
  workspaceId: string,
  jti: string,
): Promise<TokenStanding | undefined> {
  const [row] = await standing(db, organizationId, workspaceId, jti);
  return row && { lifecycle: row.lifecycle, token_gen: row.token_gen, revoked: row.revoked_jti !== null };
}

/** False when it was revoked before. */
export async function insertRevocation(
  db: Db,
  workspaceId: string,
  jti: string,
  expiresAt: number | null,
): Promise<boolean> {
  const row = await db
    .insertInto('revoked_tokens')
    .values({ workspace_id: workspaceId, jti, revoked_at: sql<number>`now_ms()`, expires_at: expiresAt })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'jti']).doNothing())
    .returning('jti')
    .executeTakeFirst();
  return row !== undefined;
}
