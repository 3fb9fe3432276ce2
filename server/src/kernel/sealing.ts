/**
 * Seals secrets for storage with the deployment's encryption key (AES-256-GCM), which is kept outside the database.
 * While a key is being replaced there are several keys: the first key seals; each key can open.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { OperatorError } from './errors.ts';

export interface Sealer {
  /**
   * `context` says what the secret is, and must be the same when opening. So a sealed value cannot be copied to another
   * place.
   */
  seal(secret: Buffer, context: string): string;
  open(sealed: string, context: string): Buffer;
  /** Whether the value was sealed with the current key. */
  isCurrent(sealed: string): boolean;
  /** Ids of the keys that can open, as sealed values name them; the first one seals. They tell nothing about the keys. */
  keyIds(): string[];
  /** Tells secrets apart without telling what they are: the same for the same text and context, until the key changes. */
  fingerprint(secret: string, context: string): string;
}

const version = 'v1';

export function createSealer(encryptionKey: Buffer, ...formerKeys: Buffer[]): Sealer {
  const current = sealingKey(encryptionKey);
  const fingerprintKey = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'inlay fingerprints', 32));
  const keys = new Map([current, ...formerKeys.map(sealingKey)].map(({ id, key }) => [id, key]));
  return {
    seal(secret, context) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
      return `${version}.${current.id}.${sealed.toString('base64url')}`;
    },
    isCurrent: (text) => keyIdOf(text) === current.id,
    keyIds: () => [...keys.keys()],
    // With a key: a short password could be guessed from a bare hash.
    fingerprint: (secret, context) =>
      createHmac('sha256', fingerprintKey).update(`${context}\0${secret}`).digest('hex').slice(0, 12),
    open(text, context) {
      const [, , payload = ''] = text.split('.');
      const key = keys.get(keyIdOf(text));
      if (!key) {
        throw new OperatorError(
          'A stored secret was encrypted with a different key. Set INLAY_ENCRYPTION_KEY to the key that this database was last used with.',
        );
      }
      const sealed = Buffer.from(payload, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(-16));
      return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
    },
  };
}

/** Throws as `open` does when no key of the sealer can open the value. Says nothing of a value that is damaged. */
export function assertKnown(sealer: Sealer, sealed: string): void {
  if (!sealer.keyIds().includes(keyIdOf(sealed))) sealer.open(sealed, '');
}

/** The id of the key that a value was sealed with. */
export const keyIdOf = (sealed: string): string => sealed.split('.')[1] ?? '';

/** With the id we can tell a wrong key from a damaged value. */
function sealingKey(encryptionKey: Buffer): { id: string; key: Buffer } {
  const key = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'inlay sealing', 32));
  return { id: createHash('sha256').update(key).digest('hex').slice(0, 8), key };
}
