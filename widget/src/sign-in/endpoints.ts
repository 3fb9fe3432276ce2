/** The endpoints of sign-ins and credentials, as the widget uses them. */
import type { OwnCredential } from '@inlay/contract/credentials/credentials';
import type { SignIn, StartSignInRequest } from '@inlay/contract/credentials/oauth-flows';
import type { Api } from '../api/api.ts';

export type { SignIn };

/** The service answers earlier if something changes. */
const waitSeconds = 20;

export function startSignIn(api: Api, request: StartSignInRequest, signal: AbortSignal): Promise<SignIn> {
  const frame_proof = document.querySelector<HTMLMetaElement>('meta[name="inlay-frame-proof"]')?.content;
  return api.request('POST /embedded/oauth/flows', {
    body: { ...request, ...(frame_proof && { frame_proof }) },
    signal,
  });
}

/** Waits until the state is another one than `known`, but not for ever. Without `known` it answers at once. */
export function getSignIn(api: Api, id: string, known: string | undefined, signal: AbortSignal): Promise<SignIn> {
  const query = known === undefined ? {} : { wait: waitSeconds, known };
  return api.request('GET /embedded/oauth/flows/{flow_id}', { ids: [id], query, signal });
}

export function confirmSignIn(api: Api, id: string, signal: AbortSignal): Promise<SignIn> {
  return api.request('POST /embedded/oauth/flows/{flow_id}/confirm', { ids: [id], signal });
}

/** The sign-in by a link that a new source of the template can be made with. */
export async function findUnused(
  api: Api,
  templateId: string,
  signal: AbortSignal,
): Promise<OwnCredential | undefined> {
  const query = { source_template_id: templateId };
  const { data } = await api.request('GET /embedded/credentials', { query, signal });
  return data[0];
}

export function getCredential(api: Api, id: string, signal: AbortSignal): Promise<OwnCredential> {
  return api.request('GET /embedded/credentials/{credential_id}', { ids: [id], signal });
}
