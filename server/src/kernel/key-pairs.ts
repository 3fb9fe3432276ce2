/** Ed25519 key pairs: how they are made, sealed, named and published. Tokens and the audit trail have keys of their own. */
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Sealer } from './sealing.ts';

/** As it is stored. */
export interface SealedKey {
  kid: string;
  public_jwk: string;
  sealed_private_key: string;
}

export function newSealedKey(sealer: Sealer, contextOf: (kid: string) => string): SealedKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const jwk = jwkOf(publicKey);
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' });
  return {
    kid: jwk.kid,
    public_jwk: JSON.stringify(jwk),
    sealed_private_key: sealer.seal(secret, contextOf(jwk.kid)),
  };
}

/** A public key as it is published. Its id follows from the key, so nobody can publish another key under the same id. */
export function jwkOf(publicKey: KeyObject) {
  const { kty, crv, x } = publicKey.export({ format: 'jwk' });
  return { kty, crv, x, kid: thumbprint(String(x)), alg: 'EdDSA', use: 'sig' };
}

/**
 * A short name for a key, derived from it. It is typed on the command line, where a leading hyphen would be an option.
 */
function thumbprint(x: string): string {
  return `k${createHmac('sha256', 'inlay key id').update(x).digest('hex').slice(0, 15)}`;
}
