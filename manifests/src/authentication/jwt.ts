/* Signed tokens. */
import { createHmac, createPrivateKey, createSign, type KeyLike, sign as signBytes } from 'node:crypto';
import { isJsonObject } from '@inlay/protocol/json';
import {
  anything,
  boolean,
  type ComponentDefinition,
  choice,
  component,
  either,
  type Given,
  integer,
  mapping,
  optional,
  required,
  template,
} from '../component.ts';
import type { RequestOption } from '../requests/request-options.ts';
import type { Authenticator } from '../requests/requester.ts';
import { InterpolatedMapping } from '../template/interpolation.ts';
import { pythonText } from '../values/printing.ts';
import { authenticatorOf, headerParts } from './authenticators.ts';

const algorithms = [
  'HS256',
  'HS384',
  'HS512',
  'ES256',
  'ES256K',
  'ES384',
  'ES512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'EdDSA',
];

function makeJwt(given: Given): Authenticator {
  const algorithm = given.text('algorithm') ?? 'HS256';
  const names = { json_loads: (value: unknown) => JSON.parse(String(value)) };
  /** Claims with a name in the language, if the manifest sets them. */
  const named = (name: string): Record<string, unknown> => {
    const value = given.value(name);
    if (!isJsonObject(value)) return {};
    const claims = Object.entries(value).filter(([key, item]) => key !== '$parameters' && key !== 'type' && item);
    return Object.fromEntries(claims.map(([key, item]) => [key, given.asTemplate(String(item)).value(names)]));
  };
  /** Any others: one without a value is null. */
  const further = (name: string): Record<string, unknown> => {
    const value = given.value(name);
    if (!isJsonObject(value)) return {};
    const { $parameters: _parameters, ...claims } = value;
    const { config, ...place } = given.place;
    return new InterpolatedMapping(claims, place).evaluate({ config, ...names });
  };

  function token(): string {
    const header = { alg: algorithm, typ: 'JWT', ...further('additional_jwt_headers'), ...named('jwt_headers') };
    const now = Math.trunc(given.run.clock.seconds());
    const duration = Number(given.rendered('token_duration', '1200'));
    const times = { iat: now, exp: now + duration, nbf: now };
    const payload = { ...further('additional_jwt_payload'), ...named('jwt_payload'), ...times };
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const content = `${encode({ ...header, alg: algorithm })}.${encode(payload)}`;
    return `${content}.${sign(algorithm, content, secretOf(given, names), passphraseOf(given))}`;
  }

  const prefix = given.template('header_prefix');
  const option = given.child<RequestOption>('request_option');
  return authenticatorOf(() => {
    const start = prefix?.text() ?? '';
    const written = start === '' ? token() : `${start} ${token()}`;
    return option ? option.alone(written) : headerParts('Authorization', written);
  });
}

function secretOf(given: Given, names: Record<string, unknown>): string {
  const text = pythonText(given.template('secret_key')?.value(names) ?? '');
  return given.flag('base64_encode_secret_key') ? Buffer.from(text).toString('base64') : text;
}

function passphraseOf(given: Given): string | undefined {
  return given.template('passphrase')?.text() || undefined;
}

function sign(algorithm: string, content: string, secret: string, passphrase: string | undefined): string {
  const hash = `sha${algorithm.slice(2, 5)}`;
  if (algorithm.startsWith('HS')) return createHmac(hash, secret).update(content).digest('base64url');
  // Keys are often pasted with line breaks written as \\n.
  const pem = secret.replaceAll('\\n', '\n');
  const key = createPrivateKey({ key: pem, format: 'pem', ...(passphrase !== undefined && { passphrase }) });
  if (algorithm === 'EdDSA') return signBytes(null, Buffer.from(content), key).toString('base64url');
  const signer = createSign(hash).update(content);
  if (algorithm.startsWith('ES')) return signer.sign({ key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  const padding = algorithm.startsWith('PS') ? { padding: 6, saltLength: -1 } : {};
  return signer.sign({ key: key as KeyLike, ...padding } as Parameters<typeof signer.sign>[0]).toString('base64url');
}

export const jwtComponents: ComponentDefinition[] = [
  {
    name: 'JwtAuthenticator',
    step: 'S3',
    words: 'Signs a JWT and sends it.',
    options: {
      secret_key: required(template, 'The signing key. Supports json_loads.'),
      algorithm: required(choice(...algorithms), 'The signing algorithm.'),
      base64_encode_secret_key: optional(boolean, 'Encodes the key in base64 before use.', false),
      token_duration: optional(either(integer, template), 'Lifetime of a token in seconds.', 1200),
      header_prefix: optional(template, 'Prefix of the token, such as Bearer.'),
      jwt_headers: optional(anything, 'The headers kid, typ and cty.'),
      additional_jwt_headers: optional(mapping(anything), 'Additional headers.'),
      jwt_payload: optional(anything, 'The claims iss, sub and aud.'),
      additional_jwt_payload: optional(mapping(anything), 'Additional claims.'),
      passphrase: optional(template, 'The passphrase of the key.'),
      request_option: optional(
        component('RequestOption'),
        'Where to send the token (default: the Authorization header).',
      ),
    },
    make: makeJwt,
  },
];
