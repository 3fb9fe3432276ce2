/** Scoped tokens that the service did not issue in this form: each gets the same 401, and none causes a look-up. */
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { base64url, expectSame401, infoPath, keysOf, readToken, signToken, unknownId } from './support.ts';

type Fields = Record<string, unknown>;

let test: TestApp;
let good: string;
let header: Fields;
let claims: Fields;
let parts: [string, string, string];
let privateKey: KeyObject;

const call = (token: string) => test.request('GET', infoPath, { token });
const now = () => Math.floor(Date.now() / 1000);
const signed = (changedHeader: Fields, changedClaims: Fields = {}) =>
  signToken({ ...header, ...changedHeader }, { ...claims, ...changedClaims }, privateKey);
/** With the signature of the good token, or another one. */
const unsigned = (changedHeader: Fields, changedClaims: Fields = {}, signature = parts[2]) =>
  `${base64url({ ...header, ...changedHeader })}.${base64url({ ...claims, ...changedClaims })}.${signature}`;
function hmac(alg: string, secret: string | Buffer, changedHeader: Fields = {}): string {
  const text = `${base64url({ ...header, alg, ...changedHeader })}.${parts[1]}`;
  return `${text}.${createHmac(alg.replace('HS', 'sha'), secret).update(text).digest('base64url')}`;
}

async function expectAll401(tokens: string[]): Promise<void> {
  expect((await call(good)).status).toBe(200);
  for (const token of tokens) expectSame401(await call(token));
}

describe('A forged token', () => {
  beforeAll(async () => {
    test = await startTestApp('sqlite');
    good = await test.scopedToken('acme');
    ({ header, claims, parts } = readToken(good));
    privateKey = (await keysOf(test)).current().privateKey;
  });
  afterAll(() => test.stop());

  it('without a signature is refused, however "none" is spelled', async () => {
    const spellings = ['none', 'None', 'NONE', 'nOnE', '', 'null', null, undefined, 0, [], ['none'], ['EdDSA'], {}];
    const tokens = spellings.flatMap((alg) => [unsigned({ alg }), unsigned({ alg }, {}, ''), signed({ alg })]);
    await expectAll401([...tokens, `${parts[0]}.${parts[1]}.`, `${parts[0]}.${parts[1]}`]);
  });

  it('signed with our public key as a secret is refused', async () => {
    const jwk = (await test.request('GET', '/.well-known/jwks.json', { token: null })).body.keys[0];
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    const der = publicKey.export({ format: 'der', type: 'spki' });
    const pem = String(publicKey.export({ format: 'pem', type: 'spki' }));
    const secrets = [pem, pem.trim(), der, der.toString('base64'), JSON.stringify(jwk), jwk.x, jwk.kid];
    secrets.push(Buffer.from(jwk.x, 'base64url'));
    await expectAll401(secrets.flatMap((secret) => ['HS256', 'HS384', 'HS512'].map((alg) => hmac(alg, secret))));
  });

  it('of another algorithm or another key is refused', async () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    const { privateKey: p256 } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { privateKey: ed448 } = generateKeyPairSync('ed448');
    const text = (alg: string) => `${base64url({ ...header, alg })}.${parts[1]}`;
    const es256 = sign('sha256', Buffer.from(text('ES256')), { key: p256, dsaEncoding: 'ieee-p1363' });
    const rs256 = sign('sha256', Buffer.from(text('RS256')), rsa);
    await expectAll401([
      signToken(header, claims, other),
      signToken(header, claims, ed448),
      `${text('ES256')}.${es256.toString('base64url')}`,
      `${text('EdDSA')}.${es256.toString('base64url')}`,
      `${text('RS256')}.${rs256.toString('base64url')}`,
      ...['Ed25519', 'Ed448', 'eddsa', 'EDDSA', 'ES256', 'RS256', 'PS256', 'ES256K'].map((alg) => signed({ alg })),
    ]);
  });

  it('cannot choose its key: no kid but a known one counts', async () => {
    const kids = [
      '../../../../dev/null',
      '/etc/passwd',
      'file:///etc/passwd',
      "' or '1'='1",
      "x' union select sealed_private_key from signing_keys --",
      'x'.repeat(5_000),
      '',
      '__proto__',
      'constructor',
      ` ${header.kid}`,
      `${header.kid}\0`,
      String(header.kid).toUpperCase(),
      [header.kid],
      { kid: header.kid },
      0,
      null,
      undefined,
      'http://127.0.0.1/key',
    ];
    await expectAll401(kids.map((kid) => signed({ kid })));
    await expectAll401([hmac('HS256', '', { kid: '/dev/null' }), signed({ kid: 'x'.repeat(10_000) })]);
  });

  it('cannot bring its own key or extension, not even well signed, and nothing is fetched for it', async () => {
    let visits = 0;
    const server = createServer((_request, response) => {
      visits += 1;
      response.end('{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
    const mine = generateKeyPairSync('ed25519');
    const jwk = { ...mine.publicKey.export({ format: 'jwk' }), kid: header.kid, alg: 'EdDSA' };
    const extras: Fields[] = [
      { jku: url },
      { x5u: url },
      { jwk },
      { x5c: ['MIIB'] },
      { x5t: 'x' },
      { crit: [] },
      { crit: ['exp'] },
      { crit: ['b64'], b64: false },
      { b64: false },
      { b64: true },
      { zip: 'DEF' },
      { cty: 'JWT' },
      { typ: 'at+jwt' },
      { typ: 'jwt' },
      { typ: undefined },
      { enc: 'A256GCM' },
    ];
    const tokens = extras.flatMap((extra) => [
      signed(extra),
      signToken({ ...header, ...extra }, claims, mine.privateKey),
    ]);
    await expectAll401(tokens);
    server.close();
    expect(visits).toBe(0);
  });

  it('with any claim changed and the signature kept is refused', async () => {
    const other = await test.workspaceId('globex');
    const changes: Fields[] = Object.keys(claims).flatMap((name) => [{ [name]: 'x' }, { [name]: undefined }]);
    changes.push(
      { sub: other },
      { org: unknownId },
      { exp: now() + 9_999 },
      { nbf: 1 },
      { allowed_origin: 'https://a.example' },
    );
    await expectAll401(changes.map((change) => unsigned({}, change)));
  });

  it('is refused with any one bit flipped', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.nat(6), async (at, bit) => {
        const flipped = String.fromCharCode(good.charCodeAt(at) ^ (1 << bit));
        expectSame401(await call(`${good.slice(0, at)}${flipped}${good.slice(at + 1)}`));
      }),
      { numRuns: isLongRun ? 400 : 150 },
    );
    const bytes = Buffer.from(parts[2], 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expectSame401(await call(`${parts[0]}.${parts[1]}.${changed.toString('base64url')}`));
    }
  });

  it('is refused cut short at any place, or with anything added', async () => {
    const cut = Array.from({ length: good.length - 1 }, (_, length) => good.slice(0, length + 1));
    const added = ['=', '==', 'A', '.', '.A', '%00', '#', `.${parts[2]}`].map((end) => good + end);
    await expectAll401([...cut, ...added, `.${good}`, `=${good}`, `${good},${good}`, good.replaceAll('.', '..')]);
  });

  it('is refused in any other spelling of base64url', async () => {
    const [h, p, s] = parts;
    const spare = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = spare.indexOf(s.slice(-1));
    // The last character of 64 bytes carries two bits that mean nothing... if nobody looks.
    const twins = Array.from({ length: 15 }, (_, i) => s.slice(0, -1) + spare[(last & 48) | ((last + i + 1) & 15)]);
    const standard = (text: string) => Buffer.from(text, 'base64url').toString('base64');
    await expectAll401([
      ...twins.map((twin) => `${h}.${p}.${twin}`),
      `${standard(h)}.${standard(p)}.${standard(s)}`,
      `${h}=.${p}.${s}`,
      `${h}.${p}==.${s}`,
      `${h.slice(0, 4)}!${h.slice(4)}.${p}.${s}`,
      `${h}A.${p}.${s}`,
    ]);
  });

  it('is refused as JWE, nested, or with more or fewer than three parts', async () => {
    const jwe = [
      base64url({ alg: 'dir', enc: 'A256GCM', kid: header.kid }),
      '',
      'AAAAAAAAAAAAAAAA',
      parts[1],
      parts[2],
    ];
    const nested = base64url(good);
    await expectAll401([
      jwe.join('.'),
      [...parts, 'A'].join('.'),
      [...parts, 'A', 'A'].join('.'),
      parts.slice(0, 2).join('.'),
      parts[1],
      nested,
      signToken({ ...header, cty: 'JWT' }, good, privateKey),
      signToken(header, good, privateKey),
      ...['null', '[]', '""', '1', '{', ''].flatMap((text) => [
        signToken(header, text, privateKey),
        signToken(text, claims, privateKey),
      ]),
    ]);
  });

  it('of a megabyte is refused', async () => {
    await expectAll401([
      'a'.repeat(1_048_576),
      `${parts[0]}.${'A'.repeat(1_048_576)}.${parts[2]}`,
      '.'.repeat(1_048_576),
      signed({}, { padding: 'x'.repeat(1_000_000) }),
    ]);
  });
});
