/**
 * Which account the tokens belong to. A provider reports it in the token response, or at an endpoint called with the
 * access token. The account's stable id is stored only as a hash keyed per client: it distinguishes accounts and
 * reveals nothing else. The hash key is sealed and survives a rotation of the encryption key.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { OAuthProvider } from '@inlay/contract/credentials/oauth-providers';
import type { OAuthClientRow } from '../../kernel/db/tables.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { ProviderNetwork } from './network.ts';
import { introspect, type OpenClient, target, withToken } from './requests.ts';
import { at, type Tokens, textIn } from './token-answers.ts';

export interface Account {
  /** As the provider says it; null: it does not say. */
  subject: string | null;
  label: string | null;
}

const contextOf = (clientId: string) => `oauth client accounts ${clientId}`;
const maxLabel = 255;
const longestTaken = 2_048;
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

/** Everything that a provider has returned in a flow. */
export interface Told {
  tokens: Tokens;
  redirect: URLSearchParams;
  /** What the provider says of the account; undefined: it was not asked, or did not say. */
  account: unknown;
}

/** A provider that does not report an account is not a failure: the owner of the tokens is then unknown. */
export async function askAccount(network: ProviderNetwork, client: OpenClient, tokens: Tokens): Promise<unknown> {
  const { account } = client.provider;
  if (account?.url === undefined) return undefined;
  const said = await ask(network, client, { ...account, url: account.url }, tokens.accessToken);
  return Array.isArray(said) ? chosen(said, account.newest) : said;
}

export function readAccount(
  { account }: Pick<OAuthProvider, 'account'>,
  { tokens, redirect, account: said }: Told,
): Account {
  if (!account) return unknown;
  const other = account.from === 'redirect' ? Object.fromEntries(redirect) : tokens.answer;
  const { id, label } = account;
  return {
    subject: subjectIn(at(said, id)) ?? subjectIn(at(other, id)),
    label: (label && (textIn(at(said, label), maxLabel) ?? textIn(at(other, label), maxLabel))) ?? null,
  };
}

/** Picks this sign-in's account from several. */
function chosen(list: readonly unknown[], newest: readonly string[] | undefined): unknown {
  if (!newest) return list[0];
  const timeOf = (one: unknown) => textIn(at(one, newest), maxLabel) ?? '';
  return list.reduce((best, one) => (timeOf(one) > timeOf(best) ? one : best), list[0]);
}

type AskedAccount = NonNullable<OAuthProvider['account']> & { url: string };

async function ask(
  network: ProviderNetwork,
  client: OpenClient,
  { url, method = 'GET', headers, body, introspects }: AskedAccount,
  accessToken: string,
): Promise<unknown> {
  try {
    const answer = introspects
      ? await introspect(network, client, url, accessToken)
      : await network.request(await target(network, client, url), {
          method: body ? 'POST' : method,
          headers: {
            accept: 'application/json',
            'user-agent': 'Inlay',
            ...(body && { 'content-type': 'application/json' }),
            ...(headers ? withToken(headers, accessToken) : { authorization: `Bearer ${accessToken}` }),
          },
          ...(body && { body: JSON.stringify(body) }),
        });
    return answer && answer.status >= 200 && answer.status < 300 ? JSON.parse(answer.body) : undefined;
  } catch {
    // Not reached, or not JSON. The tokens are good all the same.
    return undefined;
  }
}

/** Only ever hashed, so any text will do. A number that JavaScript rounds could equal another account's. */
function subjectIn(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  return (typeof value === 'string' && value.toWellFormed().trim()) || null;
}

/** Values that a source needs from the provider: in the token response, in the redirect or in the account. */
export function takenValues(
  { taken = {} }: Pick<OAuthProvider, 'taken'>,
  { tokens, redirect, account }: Told,
): Record<string, string> {
  const told = { token: tokens.answer, redirect: Object.fromEntries(redirect), account };
  const values = Object.entries(taken).flatMap(([name, { from, path }]) => {
    const value = textIn(at(told[from], path), longestTaken);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(values);
}
