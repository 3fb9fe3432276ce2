/*
 * How a webhook is signed, by Standard Webhooks 1.0: the text `id.timestamp.body`, with HMAC-SHA256 (`v1`, secrets begin
 * with `whsec_`) or Ed25519 (`v1a`, private keys begin with `whsk_`, public keys with `whpk_`). The service signs and
 * receivers verify with this one definition.
 */
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import { WebhookKeyError } from './key-error.ts';

export interface SignedMessage {
  id: string;
  /** Seconds since 1970. */
  timestamp: number;
  /** The raw body. */
  payload: string | Uint8Array;
}

export const prefixes = { secret: 'whsec_', privateKey: 'whsk_', publicKey: 'whpk_' } as const;

/** Signs with a secret or a private key, depending on the key's prefix. */
export type Signer = (message: SignedMessage) => string;
export type SignatureCheck = (message: SignedMessage, signature: string) => boolean;

/** Preparing a key takes longer than signing, so reuse the signer. */
export function signerOf(key: string): Signer {
  if (key.startsWith(prefixes.privateKey)) {
    const privateKey = readPrivateKey(key);
    return (message) => `v1a,${sign(null, signedText(message), privateKey).toString('base64')}`;
  }
  const secret = readSecret(key);
  return (message) => `v1,${hmacOf(secret, message).toString('base64')}`;
}

/** Checks single signatures, such as `v1,…`. A private key checks with its public key. */
export function checkOf(key: string): SignatureCheck {
  if (key.startsWith(prefixes.privateKey) || key.startsWith(prefixes.publicKey)) {
    const publicKey = key.startsWith(prefixes.publicKey) ? readPublicKey(key) : createPublicKey(readPrivateKey(key));
    return (message, signature) => {
      const given = signatureBytes(signature, 'v1a', 64);
      return given !== undefined && verify(null, signedText(message), publicKey, given);
    };
  }
  const secret = readSecret(key);
  return (message, signature) => {
    const given = signatureBytes(signature, 'v1', 32);
    return given !== undefined && timingSafeEqual(given, hmacOf(secret, message));
  };
}

/** The public key of a private key, as receivers get it. */
export function publicKeyOf(privateKey: string): string {
  const { x } = createPublicKey(readPrivateKey(privateKey)).export({ format: 'jwk' });
  return `${prefixes.publicKey}${Buffer.from(x ?? '', 'base64url').toString('base64')}`;
}

export function hmacOf(secret: Uint8Array, message: SignedMessage): Buffer {
  return createHmac('sha256', secret).update(signedText(message)).digest();
}

function signedText({ id, timestamp, payload }: SignedMessage): Buffer {
  return Buffer.concat([Buffer.from(`${id}.${timestamp}.`), Buffer.from(payload as Uint8Array)]);
}

/** The bytes of a signature of this version; undefined for anything else. */
function signatureBytes(signature: string, version: string, length: number): Buffer | undefined {
  if (!signature.startsWith(`${version},`)) return undefined;
  const bytes = Buffer.from(signature.slice(version.length + 1), 'base64');
  return bytes.length === length ? bytes : undefined;
}

function readSecret(secret: string): Buffer {
  const bytes = readBase64(secret, prefixes.secret);
  if (!bytes || bytes.length === 0) {
    throw new WebhookKeyError('The secret of the webhook must be "whsec_" and base64, as it was shown once.');
  }
  return bytes;
}

/** DER prefix of a 32-byte Ed25519 key. */
const privateKeyHead = Buffer.from('302e020100300506032b657004220420', 'hex');
const publicKeyHead = Buffer.from('302a300506032b6570032100', 'hex');

function readPrivateKey(key: string): KeyObject {
  const bytes = readBase64(key, prefixes.privateKey);
  // Some formats append the public key to the private one.
  if (bytes?.length !== 32 && bytes?.length !== 64) {
    throw new WebhookKeyError('The private key of the webhook must be "whsk_" and 32 bytes in base64.');
  }
  const der = Buffer.concat([privateKeyHead, bytes.subarray(0, 32)]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

function readPublicKey(key: string): KeyObject {
  const bytes = readBase64(key, prefixes.publicKey);
  if (bytes?.length !== 32) {
    throw new WebhookKeyError('The public key of the webhook must be "whpk_" and 32 bytes in base64.');
  }
  return createPublicKey({ key: Buffer.concat([publicKeyHead, bytes]), format: 'der', type: 'spki' });
}

/** A secret's prefix is optional, as in the Standard Webhooks libraries. */
function readBase64(key: string, prefix: string): Buffer | undefined {
  const text = key.startsWith(prefix) ? key.slice(prefix.length) : key;
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}
