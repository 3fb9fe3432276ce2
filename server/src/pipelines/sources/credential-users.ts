/** What credentials and sign-ins need of the sources that use them: the port that credentials/context.ts describes. */
import type { CredentialUsers } from '../../credentials/context.ts';
import type { Cause } from '../../kernel/cause.ts';
import type { OAuthFlowRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { changedBy, type PipelinesContext } from '../context.ts';
import { openAddressesWith } from '../credential-addresses.ts';
import { followCredential, holdHealth } from '../jobs/jobs.ts';
import { wakeSourcesOfCredential } from '../sources.store.ts';
import { createSource, updateSource } from './sources.ts';

export function credentialUsers(ctx: PipelinesContext): CredentialUsers {
  return {
    hold: (tx, workspaceId) => holdHealth(ctx.store, tx, [workspaceId]),
    openAddresses: (credential) => openAddressesWith(ctx, credential),
    changed: (journal, tx, credential) => followCredential({ ...ctx, journal }, tx, credential),
    // The worker brings the platform the new tokens, or where to ask for them.
    replaced: (tx, { workspaceId, credentialId }) => wakeSourcesOfCredential(tx, workspaceId, credentialId),
    connectByLink: (cause, flow) => connectByLink(ctx, cause, flow),
  };
}

/** The source is made, or gets the credential that it does not have yet. */
async function connectByLink(root: PipelinesContext, cause: Cause, flow: OAuthFlowRow): Promise<void> {
  const { organization_id: organizationId, workspace_id: workspaceId, source_id, credential_id } = flow;
  const ctx = changedBy(root, cause);
  const scope = { organizationId, workspaceId, audience: 'customer' } as const;
  const signedIn = credential_id === null ? {} : { credential_id };
  try {
    if (source_id !== null) await updateSource(ctx, scope, source_id, signedIn);
    else await createSource(ctx, scope, { source_template_id: flow.source_template_id, ...signedIn });
  } catch (err) {
    // The template asks for more than a sign-in: the customer continues in the widget, which finds the credential.
    if (err instanceof AppError && err.code === 'invalid_request') return;
    // The customer has done everything. What is left is the operator's, who sees a credential without a source.
    ctx.log.error({ err, flowId: flow.id }, 'Failed to create the source after a sign-in by link');
  }
}
