/** Puts together what sign-ins with a provider need from the other folders. */
import type { CredentialOwner } from '@inlay/contract/credentials';
import { type Config, isLoopback } from './config.ts';
import type { SourceTemplateRow } from './db/tables.ts';
import { AppError } from './errors.ts';
import type { OAuthContext } from './oauth/context.ts';
import { createChanges, type FlowsContext, type SignInTemplate } from './oauth/flows.ts';
import { findOrganization } from './organizations/organizations.ts';
import { changedBy, type PipelinesContext } from './pipelines/context.ts';
import { connectSourceByLink, findSourceForSignIn } from './pipelines/sign-in-sources.ts';
import { findAnySourceTemplate, findOfferedSourceTemplate } from './templates/source-templates.ts';
import type { FrameProofs } from './tokens/frame-proofs.ts';
import { holdLiveWorkspace } from './workspaces/live-workspaces.ts';

interface SignInParts {
  config: Pick<Config, 'publicUrl'>;
  oauth: OAuthContext;
  pipelines: PipelinesContext;
  frameProofs: FrameProofs;
  owner: CredentialOwner;
  patienceMs?: number | undefined;
}

const usualPatienceMs = 3_000;

export function openSignIns({ config, oauth, pipelines, frameProofs, owner, patienceMs }: SignInParts): FlowsContext {
  const { templates } = pipelines;
  return {
    ...oauth,
    isSecure: isSecureAddress(config.publicUrl),
    findOffered: async (organizationId, id, filters) =>
      forSignIn(await findOfferedSourceTemplate(templates, organizationId, id, filters)),
    findTemplate: async (organizationId, id) => forSignIn(await findAnySourceTemplate(templates, organizationId, id)),
    holdWorkspace: holdLiveWorkspace,
    findSource: (organizationId, workspaceId, id) => findSourceForSignIn(pipelines, organizationId, workspaceId, id),
    isFramed: (proof, page) => frameProofs.isValid(proof, page),
    async productOf({ organization_id, origin }) {
      const { name } = (await findOrganization(oauth.store, organization_id)) ?? {};
      // The first organization is made without a name of its own.
      if (name !== undefined && name !== 'default') return name;
      return origin === null ? undefined : new URL(origin).host;
    },
    owner,
    patienceMs: patienceMs ?? usualPatienceMs,
    async connectByLink(cause, flow) {
      try {
        await connectSourceByLink(changedBy(pipelines, cause), flow);
      } catch (err) {
        // The template asks for more than a sign-in: the customer goes on in the widget, which finds the sign-in.
        if (err instanceof AppError && err.code === 'invalid_request') return;
        // The customer has done everything. What is left is the operator's, who sees a credential without a source.
        oauth.log.error({ err, flowId: flow.id }, 'a customer signed in with a link, but the source could not be made');
      }
    },
    changed: createChanges(oauth),
  };
}

export function forSignIn(
  row: Pick<SourceTemplateRow, 'id' | 'name' | 'oauth'> | undefined,
): SignInTemplate | undefined {
  return row && { id: row.id, name: row.name, oauth: row.oauth === null ? undefined : JSON.parse(row.oauth) };
}

/** Browsers keep the cookie of a sign-in, and send fetch metadata, only over https or on this machine. */
export function isSecureAddress(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  return protocol === 'https:' || isLoopback(hostname);
}
