/** What the log says of credentials. No token, and no name of an account: entries stay for ever. */
import type { Db } from '../db/open.ts';
import type { CredentialRow } from '../db/tables.ts';
import type { Journal } from '../events/journal.ts';
import { isoTime } from '../iso-time.ts';

const about = ({ id, oauth_client_id, source_template_id }: CredentialRow) => ({
  credential: { id, oauth_client_id, source_template_id },
});

/** For the audit. */
function settingsOf(row: CredentialRow) {
  return {
    state: row.state,
    reason: row.reason,
    owner: row.owner,
    grant: row.grant_kind,
    scopes: JSON.parse(row.scopes),
    account: row.account_id,
    generation: row.generation,
  };
}

export async function recordConnected(
  journal: Journal,
  tx: Db,
  { before, after }: { before: CredentialRow | undefined; after: CredentialRow },
): Promise<void> {
  await journal.record(tx, after.organization_id, {
    type: 'credential.connected',
    workspaceId: after.workspace_id,
    data: { ...about(after), again: before !== undefined },
    change: { before: before && settingsOf(before), after: settingsOf(after) },
  });
}

export async function recordEnd(
  journal: Journal,
  tx: Db,
  { before, after }: { before: CredentialRow; after: CredentialRow },
  reason: 'deleted' | 'unused' | 'revoked' | 'uncertain' | 'expired',
): Promise<void> {
  await journal.record(tx, after.organization_id, {
    type: 'credential.revoked',
    workspaceId: after.workspace_id,
    data: { ...about(after), reason },
    change: { before: settingsOf(before), after: settingsOf(after) },
  });
}

export async function recordExpiring(journal: Journal, tx: Db, row: CredentialRow, expiresAt: number): Promise<void> {
  await journal.record(tx, row.organization_id, {
    type: 'credential.expiring',
    workspaceId: row.workspace_id,
    data: { ...about(row), expires_at: isoTime(expiresAt) },
  });
}
