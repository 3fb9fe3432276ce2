/**
 * Whose the tokens are. A provider tells it in the token answer, or where it is asked with the access token. The account's
 * stable id is stored only as a hash with a key of the client: it tells one account from another, and nothing else. The
 * key is sealed, and stays when the encryption key is replaced.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { OAuthClientRow } from '../db/tables.ts';
import type { Sealer } from '../sealing.ts';
import { fillAddress } from './addresses.ts';
import type { ProviderNetwork } from './context.ts';
import type { GrantClient, Tokens } from './grants.ts';
import { at, text } from './token-answers.ts';

export interface Account {
  /** As the provider says it; null: it does not say. */
  subject: string | null;
  label: string | null;
}

const contextOf = (clientId: string) => `oauth client accounts ${clientId}`;
const maxLabel = 255;
const unknown: Account = { subject: null, label: null };

export function newAccountKey(sealer: Sealer, clientId: string): string {
  return sealer.seal(randomBytes(32), contextOf(clientId));
}

/** The same for the same account of one client, for ever. */
export function accountIdOf(
  sealer: Sealer,
  client: Pick<OAuthClientRow, 'id' | 'issuer' | 'sealed_account_key'>,
  { subject }: Account,
): string | null {
  if (subject === null) return null;
  const key = sealer.open(client.sealed_account_key, contextOf(client.id));
  return createHmac('sha256', key)
    .update(JSON.stringify([client.issuer, subject]))
    .digest('base64url');
}

/** A provider that does not tell is no failure: then nobody knows whose the tokens are. */
export async function readAccount(network: ProviderNetwork, client: GrantClient, tokens: Tokens): Promise<Account> {
  const { account } = client.provider;
  if (!account) return unknown;
  const said = account.url === undefined ? tokens.answer : await ask(network, client, account.url, tokens.accessToken);
  if (said === undefined) return unknown;
  return { subject: textAt(said, account.id), label: account.label ? textAt(said, account.label) : null };
}

async function ask(
  network: ProviderNetwork,
  client: GrantClient,
  address: string,
  accessToken: string,
): Promise<unknown> {
  try {
    const { status, body } = await network.request(fillAddress(address, client.values), {
      method: 'GET',
      headers: { accept: 'application/json', authorization: `Bearer ${accessToken}`, 'user-agent': 'Inlay' },
    });
    return status >= 200 && status < 300 ? JSON.parse(body) : undefined;
  } catch {
    // Not reached, or not JSON. The tokens are good all the same.
    return undefined;
  }
}

function textAt(value: unknown, path: readonly string[]): string | null {
  const found = text(at(value, path))?.toWellFormed().trim().slice(0, maxLabel);
  return found === undefined || found === '' ? null : found;
}
