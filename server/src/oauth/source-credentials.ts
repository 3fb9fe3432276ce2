/** Which sources use a credential. The sources themselves belong to pipelines/. */
import type { Db } from '../db/open.ts';
import { invalidRequest } from '../errors.ts';
import type { Journal } from '../events/journal.ts';
import * as store from './source-credentials.store.ts';

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
  const row = await store.lockCredential(tx, ref);
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
  _journal: Journal,
  ref: Omit<HeldCredential, 'templateId'>,
): Promise<void> {
  await store.lockCredential(tx, ref);
  if (!(await store.isCredentialUsed(tx, ref))) await store.endCredential(tx, ref);
}
