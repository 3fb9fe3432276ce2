/**
 * A provider as a connector's own specification describes it (`advanced_auth`, declarative consent). The description holds
 * templates of whole requests; what they differ in from the standard is taken over, and the requests are made by requests.ts
 * as for every provider. A description that the standard requests cannot do is refused by name.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import type { OAuthProvider } from '@inlay/contract/credentials/oauth-providers';

/** The words are for the operator. */
export class NoConsent extends Error {}

type Json = Record<string, unknown>;

/** What the templates may name, and what the standard calls it. */
const standard: Record<string, string> = {
  client_id: 'client_id',
  client_secret: 'client_secret',
  redirect_uri: 'redirect_uri',
  scope: 'scope',
  scopes: 'scope',
  optional_scope: 'scope',
  optional_scopes: 'scope',
  state: 'state',
  auth_code: 'code',
};
/** These are generated for every request. */
const made = new Set([
  ...Object.values(standard),
  ...['response_type', 'grant_type', 'code_challenge', 'code_challenge_method', 'code_verifier'],
]);

const separators: Record<string, string> = { space: ' ', comma: ',', plus: '+' };

export function providerInSpecification({ advanced_auth }: ConnectorSpecification): OAuthProvider {
  const outer = objectIn(advanced_auth, 'oauth_config_specification');
  const consent = objectIn(outer, 'oauth_connector_input_specification');
  const { consent_url: consentUrl, access_token_url: tokenUrl } = consent;
  if (typeof consentUrl !== 'string' || typeof tokenUrl !== 'string') {
    throw new NoConsent("the connector's specification does not describe a sign-in; send endpoints instead");
  }
  const words = readerOf(consent);
  const authorization = words.address(consentUrl);
  const token = words.address(tokenUrl);
  const { authentication, body } = words.headers(objectIn(consent, 'access_token_headers'));
  const output = objectIn(outer, 'complete_oauth_output_specification');
  const taken = takenValues(output);
  const inputs = Object.keys(
    objectIn(objectIn(outer, 'oauth_user_input_from_connector_config_specification'), 'properties'),
  );
  const named = inputs.filter((name) => `${authorization.url} ${token.url}`.includes(`{${name}}`));
  const scopes = scopesOf(consent);
  const params = { ...token.params, ...words.params(objectIn(consent, 'access_token_params')) };
  return {
    authorization_url: authorization.url,
    token_url: token.url,
    ...(Object.keys(authorization.params).length > 0 && { authorization_params: authorization.params }),
    ...(Object.keys(params).length > 0 && { token_params: params }),
    ...(scopes.length > 0 && { scopes }),
    ...scopeWords(consent),
    pkce: /code_?challenge/i.test(consentUrl),
    client_authentication: authentication,
    ...(body === 'json' && { token_body: body }),
    ...(named.length > 0 && { values: Object.fromEntries(named.map((name) => [name, { title: titleOf(name) }])) }),
    ...answerOf(output),
    ...(Object.keys(taken).length > 0 && { taken }),
  };
}

/** Reads templates with the names that the description gives to parameters. */
function readerOf(consent: Json) {
  const keyOf = (variable: string) => {
    const given = consent[`${variable}_key`];
    return typeof given === 'string' && given !== '' ? given : (standard[variable] ?? variable);
  };
  /** `{{ state_value }}` becomes a mark, `{{ subdomain }}` becomes `{subdomain}`. */
  const fill = (template: string) =>
    template.replace(/\{\{(.*?)\}\}/g, (_, inside: string) => {
      const [name = ''] = inside.split('|').map((part) => part.trim());
      const [, variable = '', part = ''] = /^(\w+?)_(key|value|param)$/.exec(name) ?? [];
      if (Object.hasOwn(standard, variable)) {
        if (part === 'key') return keyOf(variable);
        return part === 'param' ? `${keyOf(variable)}=${mark(variable)}` : mark(variable);
      }
      if (Object.hasOwn(standard, name)) return mark(name);
      if (/client_id/.test(inside) && /client_secret/.test(inside)) return mark('client_secret');
      if (/^[a-z_]+$/.test(name)) return `{${name}}`;
      throw new NoConsent(`the connector's specification uses “{{${inside}}}” in its sign-in, which is not supported`);
    });
  /** What is constant. Throws for a parameter that the standard calls otherwise. */
  const constants = (pairs: Iterable<readonly [string, string]>): Record<string, string> => {
    const kept: Record<string, string> = {};
    for (const [name, value] of pairs) {
      const variable = /<(\w+)>/.exec(value)?.[1];
      const usual = variable === undefined ? undefined : standard[variable];
      if (usual === 'scope' || made.has(name)) continue;
      if (usual !== undefined) {
        throw new NoConsent(
          `the provider uses “${name}” instead of ${usual}, which is not supported; send endpoints instead`,
        );
      }
      kept[name] = value;
    }
    return kept;
  };
  return {
    address(template: string) {
      const [url = '', query = ''] = fill(template).split(/\?(.*)/s);
      return { url, params: constants(new URLSearchParams(query)) };
    },
    params: (params: Json) =>
      constants(Object.entries(params).map(([name, value]) => [fill(name), fill(String(value))] as const)),
    headers(headers: Json): { authentication: 'basic' | 'post'; body: 'form' | 'json' } {
      let [authentication, body]: ['basic' | 'post', 'form' | 'json'] = ['post', 'form'];
      for (const [name, value] of Object.entries(headers)) {
        const text = String(value);
        if (/^authorization$/i.test(name) && /^\s*basic\b/i.test(text)) authentication = 'basic';
        else if (/^content-type$/i.test(name)) body = /json/i.test(text) ? 'json' : 'form';
        else if (!/^accept$/i.test(name)) {
          throw new NoConsent(`the provider requires the header ${name} in token requests, which is not supported`);
        }
      }
      return { authentication, body };
    },
  };
}

const mark = (variable: string) => `<${variable}>`;

/** A text in older descriptions, lists of objects in newer ones. */
function scopesOf({ scope, scopes, optional_scopes }: Json): string[] {
  const listed = [scopes, optional_scopes].flatMap((list) => (Array.isArray(list) ? list : []));
  const named = listed.flatMap((one) => (isObject(one) && typeof one.scope === 'string' ? [one.scope] : []));
  if (named.length > 0) return named;
  return typeof scope === 'string' ? scope.split(/[\s,]+/).filter((one) => one !== '') : [];
}

function scopeWords({ scope, scopes, scopes_join_strategy: strategy, scope_key, scopes_key }: Json) {
  const name = [scopes_key, scope_key].find((key) => typeof key === 'string' && key !== '' && key !== 'scope');
  const isListed = Array.isArray(scopes) && scopes.length > 0;
  const separator = isListed
    ? (separators[String(strategy)] ?? ' ')
    : typeof scope === 'string' && scope.includes(',')
      ? ','
      : ' ';
  return {
    ...(separator !== ' ' && { scope_separator: separator }),
    ...(typeof name === 'string' && { scope_parameter: name }),
  };
}

/** Where the answer has the tokens, if elsewhere than usual. */
function answerOf(output: Json): Pick<OAuthProvider, 'answer'> {
  const properties = objectIn(output, 'properties');
  const paths = ['access_token', 'refresh_token'].flatMap((name) => {
    const path = pathIn(properties[name], 'path_in_oauth_response');
    return path && path.join('.') !== name ? [[name, path] as const] : [];
  });
  return paths.length > 0 ? { answer: Object.fromEntries(paths) } : {};
}

function takenValues(output: Json): NonNullable<OAuthProvider['taken']> {
  const usual = new Set(['access_token', 'refresh_token', 'client_id', 'client_secret', 'token_expiry_date']);
  const others = Object.entries(objectIn(output, 'properties')).flatMap(([name, property]) =>
    usual.has(name) || !/^[a-z_]{1,50}$/.test(name)
      ? []
      : [[name, { from: 'token' as const, path: pathIn(property, 'path_in_oauth_response') ?? [name] }] as const],
  );
  return Object.fromEntries(others);
}

function pathIn(property: unknown, name: string): string[] | undefined {
  const path = isObject(property) ? property[name] : undefined;
  return Array.isArray(path) && path.length > 0 ? path.map(String) : undefined;
}

function objectIn(value: unknown, name: string): Json {
  const member = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return isObject(member) ? member : {};
}

const titleOf = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`;
