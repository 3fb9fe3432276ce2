/** Which sources use a credential. The sources themselves belong to pipelines/. */
import type { Db } from '../db/open.ts';
import { invalidRequest } from '../errors.ts';
import type { Journal } from '../events/journal.ts';
import { recordEnd } from './credential-entries.ts';
import * as credentials from './credentials.store.ts';

export interface HeldCredential {
  organizationId: string;
  workspaceId: string;
  id: string;
  templateId: string;
}

/**
 * Throws unless the workspace has this credential, for this template. A credential of another workspace is answered as
 * one that does not exist. In a transaction, nobody ends the credential until the transaction does.
 */
export async function holdCredential(tx: Db, { templateId, ...ref }: HeldCredential): Promise<void> {
  const { id: credentialId, ...place } = ref;
  const row = await credentials.lockCredential(tx, { ...place, credentialId });
  if (row && row.state !== 'ended' && row.source_template_id === templateId) return;
  throw invalidRequest({
    loc: ['body', 'credential_id'],
    msg: 'there is no sign-in with this id for this template',
    type: 'value_error',
  });
}

/** A source has stopped using it. Once no source does, it is ended, and the provider will be told (revocation). */
export async function releaseCredential(
  tx: Db,
  journal: Journal,
  { id: credentialId, ...place }: Omit<HeldCredential, 'templateId'>,
): Promise<void> {
  const ref = { ...place, credentialId };
  const before = await credentials.lockCredential(tx, ref);
  if (!before || (await credentials.isUsed(tx, ref))) return;
  const after = await credentials.putEnd(tx, ref);
  if (after) await recordEnd(journal, tx, { before, after }, 'deleted');
}
