import { describe, expect, it } from 'vitest';
import { NoConsent, providerInSpecification } from './consent.ts';

/** A specification whose sign-in is described so. */
const specificationWith = (consent: object, more: object = {}) => ({
  connectionSpecification: {},
  advanced_auth: {
    auth_flow_type: 'oauth2.0',
    oauth_config_specification: { oauth_connector_input_specification: consent, ...more },
  },
});

const plain = {
  consent_url:
    'https://login.example.com/authorize?{{client_id_param}}&{{ redirect_uri_key }}={{ redirect_uri_value | urlEncoder }}&{{ state_param }}&response_type=code&access_type=offline',
  access_token_url: 'https://login.example.com/token',
  access_token_params: {
    '{{ auth_code_key }}': '{{ auth_code_value }}',
    '{{ client_id_key }}': '{{ client_id_value }}',
    '{{ client_secret_key }}': '{{ client_secret_value }}',
    grant_type: 'authorization_code',
  },
};

describe('The provider in a specification', () => {
  it('has the addresses and the constant parameters, and nothing that is generated per request', () => {
    expect(providerInSpecification(specificationWith(plain))).toEqual({
      authorization_url: 'https://login.example.com/authorize',
      token_url: 'https://login.example.com/token',
      authorization_params: { access_type: 'offline' },
      pkce: false,
      client_authentication: 'post',
    });
  });

  it('takes over scopes, PKCE, headers, values of the customer, and where tokens and other values are', () => {
    const consent = {
      consent_url:
        'https://{{ subdomain }}.example.com/oauth?{{ client_id_param }}&{{ scopes_param }}&code_challenge={{ state_value | codechallengeS256 }}',
      access_token_url: 'https://{{ subdomain }}.example.com/token?{{ auth_code_param }}&audience=api',
      access_token_headers: {
        Authorization: "Basic {{ (client_id_value ~ ':' ~ client_secret_value) | b64encode }}",
        'Content-Type': 'application/json',
      },
      access_token_params: { code_verifier: '{{ state_value }}' },
      scopes: [{ scope: 'read' }, { scope: 'users.read' }],
      scopes_join_strategy: 'comma',
    };
    const more = {
      oauth_user_input_from_connector_config_specification: {
        properties: { subdomain: { type: 'string', path_in_connector_config: ['subdomain'] } },
      },
      complete_oauth_output_specification: {
        properties: {
          access_token: { path_in_connector_config: ['token'], path_in_oauth_response: ['data', 'token'] },
          instance_url: { path_in_connector_config: ['instance'] },
        },
      },
    };
    expect(providerInSpecification(specificationWith(consent, more))).toEqual({
      authorization_url: 'https://{subdomain}.example.com/oauth',
      token_url: 'https://{subdomain}.example.com/token',
      token_params: { audience: 'api' },
      scopes: ['read', 'users.read'],
      scope_separator: ',',
      pkce: true,
      client_authentication: 'basic',
      token_body: 'json',
      values: { subdomain: { title: 'Subdomain' } },
      answer: { access_token: ['data', 'token'] },
      taken: { instance_url: { from: 'token', path: ['instance_url'] } },
    });
    const older = { ...plain, scope: 'read,write' };
    expect(providerInSpecification(specificationWith(older))).toMatchObject({
      scopes: ['read', 'write'],
      scope_separator: ',',
    });
  });

  it.each([
    [{ ...plain, client_id_key: 'client_key' }, 'client_key'],
    [{ ...plain, access_token_headers: { 'X-Version': '2' } }, 'X-Version'],
    [{ ...plain, consent_url: 'https://x.example.com/?a={{ 1 + 1 }}' }, '1 + 1'],
    [{}, 'does not describe'],
  ])('is refused by name where the standard requests cannot do it: %j', (consent, words) => {
    const read = () => providerInSpecification(specificationWith(consent));
    expect(read).toThrow(NoConsent);
    expect(read).toThrow(words);
  });
});
