/**
 * The one form of JWT that is issued: EdDSA, with a header of exactly `alg`, `kid` and `typ`. Any other form is refused
 * before any cryptography, so a token cannot choose how it is verified. Written by hand on node:crypto because a
 * library's asynchronous signature takes three times as long, and a token is issued or checked with most requests.
 */
import { hash, sign, verify } from 'node:crypto';
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { BoundedMap } from '@inlay/schedule/bounded-map';
import type { SigningKey, SigningKeys } from './signing-keys.ts';

export type Claims = Record<string, unknown>;

const maxTokenLength = 12_000;
const shape = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{86})$/;

/** Each key has one. */
const headers = new WeakMap<SigningKey, string>();

function headerOf(key: SigningKey): string {
  const header = headers.get(key) ?? encode({ alg: 'EdDSA', kid: key.kid, typ: 'JWT' });
  headers.set(key, header);
  return header;
}

export function signJwt(key: SigningKey, claims: Claims): string {
  const signed = `${headerOf(key)}.${encode(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed, 'latin1'), key.privateKey).toString('base64url')}`;
}

export interface ReadToken<Meaning> {
  /** A hash of the token, for places where the token itself must not be kept. */
  digest: string;
  meaning: Meaning;
}

/** Undefined unless the token has our form, a valid signature by a key that we have, and claims that we understand. */
type ReadJwt<Meaning> = (token: string) => ReadToken<Meaning> | undefined;

/**
 * Enough for the tokens that are in use at a time. Very long tokens are rare; they are not remembered but checked each
 * time.
 */
const maxRemembered = 10_000;
const maxRememberedLength = 2_000;

/**
 * Verifies a token once, not with each request. What is remembered never changes: the meaning of the claims, which does
 * not depend on the time, and the key that signed them, which must still be there. Only valid tokens are remembered, so
 * an attacker cannot fill the memory.
 */
export function createJwtReader<Meaning>(
  keys: Pick<SigningKeys, 'find'>,
  understand: (claims: Claims) => Meaning | undefined,
): ReadJwt<Meaning> {
  const remembered = new BoundedMap<string, { key: SigningKey; read: ReadToken<Meaning> }>(maxRemembered);
  return (token) => {
    if (token.length > maxTokenLength) return undefined;
    // The hash, not the token: so memory holds no usable token, and the time of a look-up says nothing about known
    // tokens.
    const digest = hash('sha256', token, 'base64url');
    const known = remembered.get(digest);
    if (known && keys.find(known.key.kid) === known.key) return known.read;
    const [, header = '', payload = '', signature = ''] = shape.exec(token) ?? [];
    const kid = kidOf(header);
    const key = kid === undefined ? undefined : keys.find(kid);
    if (!key) return undefined;
    const bytes = Buffer.from(signature, 'base64url');
    // The last character of a signature has unused bits, so several texts mean the same bytes. Only one is accepted.
    if (bytes.toString('base64url') !== signature) return undefined;
    if (!verify(null, Buffer.from(`${header}.${payload}`), key.publicKey, bytes)) return undefined;
    const claims = parseObject(payload);
    const meaning = claims && understand(claims);
    if (meaning === undefined) return undefined;
    const read = { digest, meaning };
    if (token.length <= maxRememberedLength) remembered.set(digest, { key, read });
    return read;
  };
}

/** The key id in the header, if the header has exactly our form. */
function kidOf(header: string): string | undefined {
  const fields = parseObject(header);
  if (!fields || Object.keys(fields).length !== 3) return undefined;
  return fields.alg === 'EdDSA' && fields.typ === 'JWT' && typeof fields.kid === 'string' ? fields.kid : undefined;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function parseObject(encoded: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
    return isObject(value) ? (value as Claims) : undefined;
  } catch {
    return undefined; // Not JSON: not a token of ours.
  }
}
