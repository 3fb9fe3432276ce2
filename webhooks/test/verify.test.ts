/** The verification of webhooks, against the vectors of the convention and against forgeries. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verify, WebhookKeyError, WebhookVerificationError } from '../src/inlay-webhooks.ts';
import { publicKeyOf, signerOf } from '../src/signatures.ts';

/** From the libraries of Standard Webhooks. */
const vector = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1_614_265_330,
  payload: '{"test": 2432232314}',
};
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const hmacSignature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
const privateKey = 'whsk_VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=';
const publicKey = publicKeyOf(privateKey);
const ed25519Signature = 'v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag==';
const wrong = 'v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=';

const headersWith = (signature: string, changes: Record<string, string | undefined> = {}) => ({
  'webhook-id': vector.id,
  'webhook-timestamp': String(vector.timestamp),
  'webhook-signature': signature,
  ...changes,
});
const at = (seconds: number) => ({ now: () => seconds * 1000 });
const onTime = at(vector.timestamp);
const faultOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
  return 'accepted';
};

describe.each([
  ['v1', secret, secret, hmacSignature],
  ['v1a', privateKey, publicKey, ed25519Signature],
])('%s', (version, signingKey, key, signature) => {
  const check = (headers: Parameters<typeof verify>[1], payload: string | Uint8Array = vector.payload) =>
    faultOf(() => verify(payload, headers, key, onTime));

  it('signs and verifies the vector of the convention', () => {
    expect(signerOf(signingKey)(vector)).toBe(signature);
    expect(verify(vector.payload, headersWith(signature), key, onTime)).toEqual({ test: 2_432_232_314 });
    expect(verify(Buffer.from(vector.payload), headersWith(signature), key, onTime)).toEqual({ test: 2_432_232_314 });
  });

  it('takes headers in every form that frameworks have', () => {
    const headers = headersWith(signature);
    expect(check(new Headers(headers))).toBe('accepted');
    const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
    expect(check(shouted)).toBe('accepted');
  });

  it('finds the right signature among others, and no key but the right one fits', () => {
    expect(check(headersWith(`${wrong} v2,${signature.slice(4)} ${signature} ${wrong}`))).toBe('accepted');
    expect(check(headersWith(wrong))).toBe('wrong_signature');
    expect(check(headersWith(`${version},`))).toBe('wrong_signature');
    expect(check(headersWith(version))).toBe('wrong_signature');
    expect(check(headersWith(signature.slice(0, -8)))).toBe('wrong_signature');
    const otherVersion = version === 'v1' ? 'v1a' : 'v1';
    expect(check(headersWith(signature.replace(version, otherVersion)))).toBe('wrong_signature');
    const others = [
      `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      `whpk_${Buffer.alloc(32, 7).toString('base64')}`,
    ];
    for (const other of others) {
      expect(faultOf(() => verify(vector.payload, headersWith(signature), other, onTime))).toBe('wrong_signature');
      expect(faultOf(() => verify(vector.payload, headersWith(signature), [other, key], onTime))).toBe('accepted');
    }
  });

  it('refuses every change of id, timestamp and body', () => {
    expect(check(headersWith(signature, { 'webhook-id': `${vector.id}x` }))).toBe('wrong_signature');
    expect(check(headersWith(signature, { 'webhook-timestamp': String(vector.timestamp + 1) }))).toBe(
      'wrong_signature',
    );
    expect(check(headersWith(signature), `${vector.payload} `)).toBe('wrong_signature');
    expect(check(headersWith(signature), vector.payload.replace('4', '5'))).toBe('wrong_signature');
  });

  it('refuses what is too old or from the future', () => {
    const late = (seconds: number, toleranceSeconds?: number) =>
      faultOf(() =>
        verify(vector.payload, headersWith(signature), key, {
          ...at(vector.timestamp + seconds),
          ...(toleranceSeconds !== undefined && { toleranceSeconds }),
        }),
      );
    expect([late(300), late(301), late(-300), late(-301)]).toEqual(['accepted', 'too_old', 'accepted', 'too_new']);
    expect([late(11, 10), late(10, 10), late(86_400, Infinity)]).toEqual(['too_old', 'accepted', 'accepted']);
  });
});

it('names the header that is missing or no number', () => {
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const headers = headersWith(hmacSignature, { [name]: undefined });
    expect(() => verify(vector.payload, headers, secret, onTime)).toThrow(`no header ${name}`);
  }
  for (const text of ['1614265330.5', '-1', '1e9', 'now', '99999999999999999']) {
    const headers = headersWith(hmacSignature, { 'webhook-timestamp': text });
    expect(
      faultOf(() => verify(vector.payload, headers, secret, onTime)),
      text,
    ).toBe('invalid_timestamp');
  }
});

it('refuses a genuine body that is not JSON, and says so', () => {
  const signature = signerOf(secret)({ ...vector, payload: 'no' });
  expect(faultOf(() => verify('no', headersWith(signature), secret, onTime))).toBe('not_json');
});

it('distinguishes an unusable key from an untrusted webhook, without showing the key', () => {
  for (const key of ['whsec_', 'whsec_not base64', 'whpk_AAAA', 'whsk_AAAA', '']) {
    expect(() => verify(vector.payload, headersWith(hmacSignature), key, onTime), key).toThrow(WebhookKeyError);
  }
  expect(() => verify(vector.payload, headersWith(hmacSignature), [], onTime)).toThrow(WebhookKeyError);
  expect(() => signerOf('whsec_not base64')).toThrow(/^(?!.*not base64)/);
});

it('makes the public key that belongs to a private key, with or without it behind the private one', () => {
  const { privateKey: made, publicKey: expected } = generateKeyPairSync('ed25519');
  const { d = '', x = '' } = made.export({ format: 'jwk' });
  const bytes = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  const wanted = `whpk_${Buffer.from(expected.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')}`;
  expect(publicKeyOf(`whsk_${bytes[0]?.toString('base64')}`)).toBe(wanted);
  expect(publicKeyOf(`whsk_${Buffer.concat(bytes).toString('base64')}`)).toBe(wanted);
});
