/**
 * What signs the webhooks of an endpoint: secrets (HMAC) and private keys (Ed25519), several during a rotation. They are
 * stored sealed. A secret is shown once, a private key never; public keys are public.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { WebhookKeySet, WebhookSigning } from '@inlay/contract/log/webhook-endpoints';
import { prefixes, publicKeyOf } from 'inlay-webhooks/signatures';
import type { Sealer } from '../../kernel/sealing.ts';

export interface WebhookKey {
  /** `whsec_…` or `whsk_…` */
  key: string;
  createdAt: number;
  /** Null: it signs until it is replaced. */
  expiresAt: number | null;
}

export const isSecret = ({ key }: WebhookKey) => key.startsWith(prefixes.secret);

/** More than that can be the leftovers of hurried rotations only. */
const maxKeys = 6;

/** New keys for an endpoint that signs in this way. */
export function makeKeys(signing: WebhookSigning, secret: string | undefined, now: number): WebhookKey[] {
  const made = (key: string): WebhookKey => ({ key, createdAt: now, expiresAt: null });
  return [
    ...(signing === 'ed25519' ? [] : [made(secret ?? makeSecret())]),
    ...(signing === 'hmac' ? [] : [made(`${prefixes.privateKey}${randomBytes(32).toString('base64')}`)]),
  ];
}

export const makeSecret = () => `${prefixes.secret}${randomBytes(32).toString('base64')}`;

/** New keys first. Old keys keep signing until the overlap ends, or earlier if an end was already set. */
export function rotateKeys(old: readonly WebhookKey[], made: readonly WebhookKey[], end: number): WebhookKey[] {
  const kept = old.map((key) => ({ ...key, expiresAt: Math.min(key.expiresAt ?? end, end) }));
  return [...made, ...kept].slice(0, maxKeys);
}

export const keysAt = (keys: readonly WebhookKey[], now: number) =>
  keys.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);

/** Says what is wrong with a secret that someone chose. */
export function secretFault(secret: string): string | undefined {
  const encoded = secret.startsWith(prefixes.secret) ? secret.slice(prefixes.secret.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  const isCanonical = encoded !== '' && bytes.toString('base64') === encoded;
  if (isCanonical && bytes.length >= 24 && bytes.length <= 64) return undefined;
  return 'a secret must be whsec_ followed by 24 to 64 bytes in base64';
}

const keysContext = (endpointId: string) => `webhook endpoint keys ${endpointId}`;
const headersContext = (endpointId: string) => `webhook endpoint headers ${endpointId}`;

export function sealKeys(sealer: Sealer, endpointId: string, keys: readonly WebhookKey[]): string {
  return sealer.seal(Buffer.from(JSON.stringify(keys)), keysContext(endpointId));
}

export function openKeys(sealer: Sealer, row: { id: string; sealed_keys: string }): WebhookKey[] {
  return JSON.parse(sealer.open(row.sealed_keys, keysContext(row.id)).toString());
}

export type ExtraHeaders = Record<string, string>;

/** Nothing to seal gives an empty text. */
export function sealHeaders(sealer: Sealer, endpointId: string, headers: ExtraHeaders): string {
  if (Object.keys(headers).length === 0) return '';
  return sealer.seal(Buffer.from(JSON.stringify(headers)), headersContext(endpointId));
}

export function openHeaders(sealer: Sealer, row: { id: string; sealed_headers: string }): ExtraHeaders {
  if (row.sealed_headers === '') return {};
  return JSON.parse(sealer.open(row.sealed_headers, headersContext(row.id)).toString());
}

/** The public keys, as JSON Web Keys and as the convention writes them. */
export function keySetOf(keys: readonly WebhookKey[]): WebhookKeySet {
  const publicKeys = keys.filter((key) => !isSecret(key)).map(({ key }) => publicKeyOf(key));
  return {
    keys: publicKeys.map((key) => {
      const x = Buffer.from(key.slice(prefixes.publicKey.length), 'base64').toString('base64url');
      const thumbprint = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`);
      return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: thumbprint.digest('base64url'), x };
    }),
    public_keys: publicKeys,
  };
}
