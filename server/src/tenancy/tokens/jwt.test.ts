import { generateKeyPairSync, sign } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { createJwtReader, signJwt } from './jwt.ts';
import type { SigningKey } from './signing-keys.ts';

function newKey(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { kid, privateKey, publicKey, mac: () => '' };
}

const key = newKey('k1');
const claims = { sub: 'someone', nested: { name: 'Ünï — \u{1f600}' }, list: [1, 2] };
const header = { alg: 'EdDSA', kid: 'k1', typ: 'JWT' };

/** Gives the claims. The keys may change later. */
function readerOf(keys: SigningKey[]) {
  const find = (kid: string) => keys.find((one) => one.kid === kid);
  const read = createJwtReader({ find }, (all) => all);
  return (token: string) => read(token)?.meaning;
}

describe('A JWT', () => {
  it('can be verified by any library', async () => {
    const { payload, protectedHeader } = await jwtVerify(signJwt(key, claims), key.publicKey);
    expect(payload).toEqual(claims);
    expect(protectedHeader).toEqual(header);
  });

  it('is read by its key, the first time and again', () => {
    const read = readerOf([key]);
    const token = signJwt(key, claims);
    for (let time = 0; time < 3; time++) expect(read(token)).toEqual(claims);
  });

  it('of a library is read when it has exactly our header', async () => {
    const signWith = (given: { alg: string }) => new SignJWT(claims).setProtectedHeader(given).sign(key.privateKey);
    expect(readerOf([key])(await signWith(header))).toEqual(claims);
    for (const other of [
      { alg: 'EdDSA', kid: 'k1' },
      { ...header, cty: 'JWT' },
      { ...header, typ: 'at+jwt' },
    ]) {
      expect(readerOf([key])(await signWith(other))).toBeUndefined();
    }
  });

  it('is refused from the moment its key is gone, however often it was read before', () => {
    const keys = [key];
    const read = readerOf(keys);
    const token = signJwt(key, claims);
    expect(read(token)).toEqual(claims);
    keys.pop();
    expect(read(token)).toBeUndefined();
  });

  it('is refused when another key has the name of the key that signed it, even if it was read before', () => {
    const keys = [key];
    const read = readerOf(keys);
    const token = signJwt(key, claims);
    expect(read(token)).toEqual(claims);
    keys[0] = newKey('k1');
    expect(read(token)).toBeUndefined();
  });

  it('is refused with any one character changed, also after the right one was read', () => {
    const read = readerOf([key]);
    const token = signJwt(key, claims);
    expect(read(token)).toEqual(claims);
    for (let place = 0; place < token.length; place++) {
      const other = token[place] === 'A' ? 'B' : 'A';
      expect(read(token.slice(0, place) + other + token.slice(place + 1)), `at ${place}`).toBeUndefined();
    }
  });

  it('is refused when what it says is no object', () => {
    for (const payload of ['[]', '1', 'null', '"x"', '{']) {
      const [head] = signJwt(key, {}).split('.');
      const signed = signAnything(`${head}.${Buffer.from(payload).toString('base64url')}`);
      expect(readerOf([key])(signed)).toBeUndefined();
    }
  });
});

function signAnything(text: string): string {
  return `${text}.${sign(null, Buffer.from(text), key.privateKey).toString('base64url')}`;
}
