/** The endpoints of sign-ins and credentials, as the widget uses them. */
import type { OwnCredential } from '@inlay/contract/credentials';
import type { SignIn, StartSignInRequest } from '@inlay/contract/oauth-flows';
import type { Api } from '../api/api.ts';

export type { SignIn };

const path = 'oauth/flows';
/** The service answers earlier if something changes. */
const waitSeconds = 20;

export function startSignIn(api: Api, request: StartSignInRequest, signal: AbortSignal): Promise<SignIn> {
  const frame_proof = document.querySelector<HTMLMetaElement>('meta[name="inlay-frame-proof"]')?.content;
  return api.request({ method: 'POST', path, body: { ...request, ...(frame_proof && { frame_proof }) }, signal });
}

/** Waits until the state is another one than `known`, but not for ever. Without `known` it answers at once. */
export function getSignIn(api: Api, id: string, known: string | undefined, signal: AbortSignal): Promise<SignIn> {
  const query = known === undefined ? '' : `?wait=${waitSeconds}&known=${known}`;
  return api.request({ path: `${path}/${id}${query}`, signal });
}

export function confirmSignIn(api: Api, id: string, signal: AbortSignal): Promise<SignIn> {
  return api.request({ method: 'POST', path: `${path}/${id}/confirm`, signal });
}

/** The sign-in by a link that a new source of the template can be made with. */
export async function findUnused(
  api: Api,
  templateId: string,
  signal: AbortSignal,
): Promise<OwnCredential | undefined> {
  const { data }: { data: OwnCredential[] } = await api.request({
    path: `credentials?source_template_id=${templateId}`,
    signal,
  });
  return data[0];
}

export function getCredential(api: Api, id: string, signal: AbortSignal): Promise<OwnCredential> {
  return api.request({ path: `credentials/${id}`, signal });
}
