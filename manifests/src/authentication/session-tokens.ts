/* Credentials that are requested first, and authenticators selected by the configuration. */
import {
  type ComponentDefinition,
  component,
  type Given,
  list,
  mapping,
  optional,
  required,
  template,
  text,
} from '../component.ts';
import { decoderNames } from '../components/selection.ts';
import type { DateTime } from '../dates/date-time.ts';
import { parseDuration } from '../dates/durations.ts';
import { RunFailure } from '../http/failures.ts';
import type { RequestOption } from '../requests/request-options.ts';
import { type Authenticator, authenticatorNames, type Requester } from '../requests/requester.ts';
import { type Decoder, jsonDecoder } from '../run/decoder.ts';
import { valueAtPath } from '../run/paths.ts';
import { wholeStream } from '../run/slice.ts';
import { pythonText } from '../values/printing.ts';
import { authenticatorOf, headerParts } from './authenticators.ts';

function makeSessionToken(given: Given): Authenticator {
  const login = given.child<Requester>('login_requester', {
    requestsFor: `${given.making.streamName}_login_requester`,
    isStreamed: false,
    mayCache: false,
    queryPropertiesKey: undefined,
  });
  if (!login) throw new Error('A SessionTokenAuthenticator requires a login_requester.');
  const decoder = given.child<Decoder>('decoder') ?? jsonDecoder;
  const path = given.texts('session_token_path');
  const duration = given.has('expiration_duration')
    ? parseDuration(given.text('expiration_duration') ?? '')
    : undefined;
  let current: { token: unknown; until: DateTime } | undefined;
  let asking: Promise<unknown> | undefined;

  async function askForToken(): Promise<unknown> {
    const answer = await (login as Requester).send({ slice: wholeStream });
    const found = answer.isGood ? valueAtPath(decoder.firstValue(answer), path) : undefined;
    if (!found) throw new RunFailure('The login returned no session token.');
    const now = given.run.clock.now();
    current = duration && { token: found.value, until: now.plus(duration) };
    return found.value;
  }

  /** Requests at the same time share one login. */
  async function token(): Promise<unknown> {
    if (current && given.run.clock.now().compare(current.until) <= 0) return current.token;
    asking ??= askForToken().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  const way = given.inside(given.value('request_authentication'));
  const option = way.child<RequestOption>('inject_into');
  const shape = way.template('api_token');
  // A session that was opened with a token of the sign-in ends with that token.
  given.run.signIn?.onFresh(() => {
    current = undefined;
  });
  return authenticatorOf(async () => {
    const value = await token();
    if (way.text('type') === 'Bearer' || !option) return headerParts('Authorization', `Bearer ${pythonText(value)}`);
    return option.alone(shape ? shape.value({ session_token: value }) : value);
  });
}

function makeSelective(given: Given): Authenticator {
  const path = given.texts('authenticator_selection_path');
  const chosen = valueAtPath(given.config, path);
  if (!chosen)
    throw new RunFailure(
      `The configuration has no ${path.join('.')}, which selects the authenticator.`,
      'config_error',
    );
  const all = (given.value('authenticators') ?? {}) as Record<string, unknown>;
  const name = pythonText(chosen.value);
  if (!Object.hasOwn(all, name))
    throw new RunFailure(
      `The configuration selects the authenticator "${name}", which the manifest does not define.`,
      'config_error',
    );
  return given.make<Authenticator>(all[name]);
}

/** A session token that the user enters, or that a login with their name and password returns. */
function makeLegacySessionToken(given: Given): Authenticator {
  const base = pythonText(given.asTemplate(String(given.around.baseAddress ?? '')).value());
  const header = pythonText(given.rendered('header'));
  let generated: string | undefined;

  async function isValid(token: string): Promise<boolean> {
    const url = new URL(`${base}${pythonText(given.rendered('validate_session_url'))}`);
    const answer = await given.run.transport.send({
      method: 'GET',
      url,
      headers: { [header]: token },
      body: undefined,
    });
    if (answer.status === 401) return false;
    if (answer.isGood) return true;
    throw new RunFailure(`The session token could not be validated (${answer.status}).`);
  }

  async function login(): Promise<string> {
    const [username, password] = [given.rendered('username', ''), given.rendered('password', '')].map(pythonText);
    if (!username || !password)
      throw new RunFailure(
        'The session token is not valid, and there is no username and password to log in with.',
        'config_error',
      );
    const url = new URL(`${base}${pythonText(given.rendered('login_url'))}`);
    const answer = await given.run.transport.send({
      method: 'POST',
      url,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
    const found = valueAtPath(answer.json, [pythonText(given.rendered('session_token_response_key'))]);
    if (!answer.isGood || !found) throw new RunFailure(`The login returned no session token (${answer.status}).`);
    return pythonText(found.value);
  }

  return authenticatorOf(async () => {
    const own = pythonText(given.rendered('session_token', ''));
    if (own !== '' && (await isValid(own))) return headerParts(header, own);
    generated ??= await login();
    return headerParts(header, generated);
  });
}

export const sessionTokenComponents: ComponentDefinition[] = [
  {
    name: 'SessionTokenAuthenticator',
    step: 'S2',
    words: 'Logs in with a separate request and sends the token from the response.',
    options: {
      login_requester: required(component('HttpRequester', 'CustomRequester'), 'The login request.'),
      session_token_path: required(list(text), 'Path of the token in the response.'),
      request_authentication: required(component('ApiKey', 'Bearer'), 'How to send the token.'),
      expiration_duration: optional(text, 'Lifetime of a token, such as PT1H. Without it, every request logs in.'),
      decoder: optional(component(...decoderNames), 'Decodes the login response.'),
    },
    make: makeSessionToken,
  },
  {
    name: 'ApiKey',
    step: 'S2',
    words: 'Sends a session token as defined by a RequestOption.',
    options: {
      inject_into: required(component('RequestOption'), 'Where to send the token.'),
      api_token: optional(template, 'Template for the token value. Available: session_token.'),
    },
  },
  {
    name: 'Bearer',
    step: 'S2',
    words: 'Sends a session token as `Authorization: Bearer …`.',
    options: {},
  },
  {
    name: 'SelectiveAuthenticator',
    step: 'S2',
    words: 'Selects one of several authenticators by a configuration value.',
    options: {
      authenticator_selection_path: required(list(text), 'Path of the choice in the configuration.'),
      authenticators: required(mapping(component(...authenticatorNames)), 'The authenticators by name.'),
    },
    make: makeSelective,
  },
  {
    name: 'LegacySessionTokenAuthenticator',
    step: 'S3',
    words: 'Sends a session token from the configuration, or gets one by logging in with username and password.',
    options: {
      header: required(template, 'The header to send the token in.'),
      login_url: required(template, 'Login path, appended to the base URL.'),
      validate_session_url: required(template, 'Path to validate a token, appended to the base URL.'),
      session_token: optional(template, 'A session token from the configuration.'),
      session_token_response_key: optional(template, 'The field of the token in the login response.'),
      username: optional(template, 'The username.'),
      password: optional(template, 'The password.'),
    },
    make: makeLegacySessionToken,
  },
];
