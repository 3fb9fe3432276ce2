/* Credentials that are asked for first, and authenticators that the configuration chooses. */
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
  if (!login) throw new Error('A SessionTokenAuthenticator needs a login_requester.');
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
    if (!found) throw new RunFailure('The login gave no session token.');
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
    throw new RunFailure(`The configuration has no ${path.join('.')}, which chooses how to log in.`, 'config_error');
  const all = (given.value('authenticators') ?? {}) as Record<string, unknown>;
  const name = pythonText(chosen.value);
  if (!Object.hasOwn(all, name))
    throw new RunFailure(`The configuration chooses "${name}", which the manifest does not have.`, 'config_error');
  return given.make<Authenticator>(all[name]);
}

/** A session token that people give, or that a login with their name and password gives. */
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
    throw new RunFailure(`The session token cannot be checked (${answer.status}).`);
  }

  async function login(): Promise<string> {
    const [username, password] = [given.rendered('username', ''), given.rendered('password', '')].map(pythonText);
    if (!username || !password)
      throw new RunFailure('The session token is not valid, and there is no user name and password.', 'config_error');
    const url = new URL(`${base}${pythonText(given.rendered('login_url'))}`);
    const answer = await given.run.transport.send({
      method: 'POST',
      url,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
    const found = valueAtPath(answer.json, [pythonText(given.rendered('session_token_response_key'))]);
    if (!answer.isGood || !found) throw new RunFailure(`The login gave no session token (${answer.status}).`);
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
    words: 'Logs in with a request of its own and sends the token that the answer has.',
    options: {
      login_requester: required(component('HttpRequester', 'CustomRequester'), 'Logs in.'),
      session_token_path: required(list(text), 'Where in the answer the token is.'),
      request_authentication: required(component('ApiKey', 'Bearer'), 'How the token is sent.'),
      expiration_duration: optional(text, 'How long a token is valid, such as PT1H. Without it every request logs in.'),
      decoder: optional(component(...decoderNames), 'Reads the answer of the login.'),
    },
    make: makeSessionToken,
  },
  {
    name: 'ApiKey',
    step: 'S2',
    words: 'Sends a session token where a RequestOption says.',
    options: {
      inject_into: required(component('RequestOption'), 'Where the token goes.'),
      api_token: optional(template, 'How the token is written. Knows session_token.'),
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
    words: 'One of several authenticators, by a value of the configuration.',
    options: {
      authenticator_selection_path: required(list(text), 'Where in the configuration the choice is.'),
      authenticators: required(mapping(component(...authenticatorNames)), 'The authenticators by their names.'),
    },
    make: makeSelective,
  },
  {
    name: 'LegacySessionTokenAuthenticator',
    step: 'S3',
    words: 'Sends a session token that people give, or one that a login with name and password gives.',
    options: {
      header: required(template, 'The header for the token.'),
      login_url: required(template, 'Where to log in, behind the base address.'),
      validate_session_url: required(template, 'Where to check a token, behind the base address.'),
      session_token: optional(template, 'A token that people give.'),
      session_token_response_key: optional(template, 'The key of the token in the answer of the login.'),
      username: optional(template, 'The user name.'),
      password: optional(template, 'The password.'),
    },
    make: makeLegacySessionToken,
  },
];
