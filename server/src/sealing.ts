/** Seals secrets for storage with the deployment's encryption key (AES-256-GCM), which is kept outside the database. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { OperatorError } from './errors.ts';

export interface Sealer {
  /** `context` says what the secret is and must be the same when opening: a sealed value cannot be moved elsewhere. */
  seal(secret: Buffer, context: string): string;
  open(sealed: string, context: string): Buffer;
}

const version = 'v1';

export function createSealer(encryptionKey: Buffer): Sealer {
  const key = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'inlay sealing', 32));
  // Tells a wrong key from a damaged value.
  const keyId = createHash('sha256').update(key).digest('hex').slice(0, 8);
  return {
    seal(secret, context) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
      return `${version}.${keyId}.${sealed.toString('base64url')}`;
    },
    open(text, context) {
      const [, sealedWith, payload = ''] = text.split('.');
      if (sealedWith !== keyId) {
        throw new OperatorError(
          'A stored secret was sealed with another encryption key. Set INLAY_ENCRYPTION_KEY to the key this database was first used with.',
        );
      }
      const sealed = Buffer.from(payload, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(-16));
      return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
    },
  };
}
