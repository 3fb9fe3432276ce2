/**
 * Providers as they really answer: the form of tokens and scopes, errors, revocation, and who has signed in. One model for
 * each preset, written from the provider's documentation. A request that the real provider would refuse is refused.
 */
import type { ProviderNetwork, ProviderRequest } from '../../src/credentials/provider/network.ts';

export interface Sent {
  method: string;
  headers: Record<string, string>;
  /** The fields of a form, or of a JSON text. */
  fields: Record<string, unknown>;
}
interface Reply {
  status?: number;
  body?: unknown;
}
type Answers = Record<string, (sent: Sent) => Reply>;

/** One of two accounts that a customer may sign in with. */
export type Who = 'first' | 'second';

export interface ProviderModel {
  /** What the template needs. */
  scopes: string[];
  /** What the customer enters before the sign-in. */
  values?: Record<string, string>;
  /** What the redirect has beside `code` and `state`. */
  redirect?: (who: Who) => Record<string, string>;
  /** By method and address. */
  answers: (who: Who) => Answers;
  /** What the customer reads of each account. */
  labels: Record<Who, string | null>;
  /** Where the customer is sent, with parameters that must be there. */
  asked: { at: string; params?: Record<string, string | null> };
  /** What a connector gets beside the tokens. */
  given?: Record<string, string>;
  granted?: string[];
  expiresInSeconds: number | null;
  /** Undefined: there is no refresh token. */
  refreshed?: 'rotates' | 'stays';
  /** Where tokens are revoked. */
  revoked?: string;
}

const pick = <T>(who: Who, first: T, second: T): T => (who === 'first' ? first : second);
const unauthorized = (body: unknown = { error: 'unauthorized' }): Reply => ({ status: 401, body });
const isForm = ({ headers }: Sent) => /^application\/x-www-form-urlencoded/.test(headers['content-type'] ?? '');
const isJson = ({ headers }: Sent) => /^application\/json/.test(headers['content-type'] ?? '');
const basic = `Basic ${Buffer.from('app:secret').toString('base64')}`;
const isBasic = ({ headers, fields }: Sent) => headers.authorization === basic && fields.client_secret === undefined;
const isPost = ({ fields }: Sent) => fields.client_id === 'app' && fields.client_secret === 'secret';
const withBearer = (sent: Sent, body: unknown): Reply =>
  /^Bearer access-\d$/.test(sent.headers.authorization ?? '') ? { body } : unauthorized();

/** A token endpoint of RFC 6749. `made` is what an answer has beside the tokens. */
function tokens(
  made: (sent: Sent, isRefresh: boolean) => Record<string, unknown>,
  accepts: (sent: Sent) => boolean,
): (sent: Sent) => Reply {
  return (sent) => {
    if (!accepts(sent)) return unauthorized({ error: 'invalid_client' });
    const { grant_type: grant, code, refresh_token: old } = sent.fields;
    if (grant === 'authorization_code' && code === 'the code') return { body: made(sent, false) };
    if (grant === 'refresh_token' && old === 'refresh-1') return { body: made(sent, true) };
    return { status: 400, body: { error: 'invalid_grant' } };
  };
}
const rotating = (isRefresh: boolean) => ({
  access_token: isRefresh ? 'access-2' : 'access-1',
  refresh_token: isRefresh ? 'refresh-2' : 'refresh-1',
});
const both =
  (...conditions: ((sent: Sent) => boolean)[]) =>
  (sent: Sent) =>
    conditions.every((one) => one(sent));

const idToken = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';

export const providerModels: Record<string, ProviderModel> = {
  airtable: {
    scopes: ['data.records:read'],
    answers: (who) => ({
      'POST https://airtable.com/oauth2/v1/token': tokens(
        (_, isRefresh) => ({
          ...rotating(isRefresh),
          token_type: 'Bearer',
          scope: 'data.records:read user.email:read',
          expires_in: 3600,
          refresh_expires_in: 5_184_000,
        }),
        both(isForm, isBasic),
      ),
      'GET https://api.airtable.com/v0/meta/whoami': (sent) =>
        withBearer(sent, pick(who, { id: 'usr1', email: 'ada@a.example' }, { id: 'usr2', email: 'bob@b.example' })),
    }),
    labels: { first: 'ada@a.example', second: 'bob@b.example' },
    asked: {
      at: 'https://airtable.com/oauth2/v1/authorize',
      params: { scope: 'data.records:read', code_challenge_method: 'S256' },
    },
    expiresInSeconds: 3600,
    refreshed: 'rotates',
  },
  asana: {
    scopes: [],
    answers: (who) => ({
      'POST https://app.asana.com/-/oauth_token': tokens(
        (_, isRefresh) => ({
          ...rotating(isRefresh),
          ...(isRefresh && { refresh_token: undefined }),
          token_type: 'bearer',
          expires_in: 3600,
          data: pick(who, { gid: '1', email: 'ada@a.example' }, { gid: '2', email: 'bob@b.example' }),
        }),
        both(isForm, isPost),
      ),
      'POST https://app.asana.com/-/oauth_revoke': (sent) =>
        isForm(sent) && isPost(sent) && sent.fields.token === 'refresh-1' ? { body: {} } : { status: 400 },
    }),
    labels: { first: 'ada@a.example', second: 'bob@b.example' },
    asked: { at: 'https://app.asana.com/-/oauth_authorize' },
    expiresInSeconds: 3600,
    refreshed: 'stays',
    revoked: 'POST https://app.asana.com/-/oauth_revoke',
  },
  atlassian: {
    scopes: ['read:jira-work'],
    answers: (who) => ({
      'POST https://auth.atlassian.com/oauth/token': tokens(
        (_, isRefresh) => ({
          ...rotating(isRefresh),
          token_type: 'Bearer',
          expires_in: 3600,
          scope: 'read:jira-work offline_access',
        }),
        both(isJson, isPost),
      ),
      'GET https://api.atlassian.com/oauth/token/accessible-resources': (sent) =>
        withBearer(sent, [
          {
            id: pick(who, '1324a887-45db', '98f1b2c3-77aa'),
            name: pick(who, 'acme', 'globex'),
            url: `https://${pick(who, 'acme', 'globex')}.atlassian.net`,
            scopes: ['read:jira-work'],
          },
        ]),
    }),
    labels: { first: 'acme', second: 'globex' },
    asked: {
      at: 'https://auth.atlassian.com/authorize',
      params: { audience: 'api.atlassian.com', prompt: 'consent', scope: 'offline_access read:jira-work' },
    },
    given: { cloud_id: '1324a887-45db', site_url: 'https://acme.atlassian.net' },
    expiresInSeconds: 3600,
    refreshed: 'rotates',
  },
  dropbox: {
    scopes: ['files.metadata.read'],
    answers: (who) => ({
      'POST https://api.dropboxapi.com/oauth2/token': tokens(
        (_, isRefresh) => ({
          access_token: isRefresh ? 'access-2' : 'access-1',
          ...(!isRefresh && { refresh_token: 'refresh-1', account_id: pick(who, 'dbid:1', 'dbid:2'), uid: '12' }),
          token_type: 'bearer',
          expires_in: 14_400,
          scope: 'account_info.read files.metadata.read',
        }),
        both(isForm, isPost),
      ),
      'POST https://api.dropboxapi.com/2/users/get_current_account': (sent) =>
        Object.keys(sent.fields).length > 0 || sent.headers['content-type'] !== undefined
          ? { status: 400 }
          : withBearer(
              sent,
              pick(
                who,
                { account_id: 'dbid:1', email: 'ada@a.example' },
                { account_id: 'dbid:2', email: 'bob@b.example' },
              ),
            ),
      'POST https://api.dropboxapi.com/2/auth/token/revoke': (sent) =>
        Object.keys(sent.fields).length > 0 ? { status: 400 } : withBearer(sent, null),
    }),
    labels: { first: 'ada@a.example', second: 'bob@b.example' },
    asked: { at: 'https://www.dropbox.com/oauth2/authorize', params: { token_access_type: 'offline' } },
    expiresInSeconds: 14_400,
    refreshed: 'stays',
    revoked: 'POST https://api.dropboxapi.com/2/auth/token/revoke',
  },
  github: {
    // The answer has commas, and leaves out what a wider scope includes.
    scopes: ['repo', 'read:org', 'user', 'user:email'],
    answers: (who) => ({
      'POST https://github.com/login/oauth/access_token': (sent) =>
        sent.fields.code === 'the code' && isPost(sent) && isForm(sent)
          ? { body: { access_token: 'access-1', token_type: 'bearer', scope: 'read:org,repo,user' } }
          : { body: { error: 'bad_verification_code', error_description: 'The code is incorrect or expired.' } },
      'GET https://api.github.com/user': (sent) =>
        sent.headers['user-agent'] === undefined
          ? { status: 403 }
          : withBearer(sent, pick(who, { id: 1, login: 'ada' }, { id: 2, login: 'bob' })),
    }),
    labels: { first: 'ada', second: 'bob' },
    asked: { at: 'https://github.com/login/oauth/authorize', params: { scope: 'repo read:org user user:email' } },
    granted: ['read:org', 'repo', 'user'],
    expiresInSeconds: null,
  },
  gitlab: {
    scopes: ['read_api'],
    answers: (who) => ({
      'POST https://gitlab.com/oauth/token': tokens(
        (_, isRefresh) => ({
          ...rotating(isRefresh),
          token_type: 'Bearer',
          expires_in: 7200,
          scope: 'read_api',
          created_at: 1_700_000_000,
        }),
        both(isForm, isPost),
      ),
      'GET https://gitlab.com/api/v4/user': (sent) =>
        withBearer(sent, pick(who, { id: 1, username: 'ada' }, { id: 2, username: 'bob' })),
      'POST https://gitlab.com/oauth/revoke': (sent) =>
        isForm(sent) && isPost(sent) ? { body: {} } : unauthorized({ error: 'unauthorized_client' }),
    }),
    labels: { first: 'ada', second: 'bob' },
    asked: { at: 'https://gitlab.com/oauth/authorize', params: { scope: 'read_api' } },
    expiresInSeconds: 7200,
    refreshed: 'rotates',
    revoked: 'POST https://gitlab.com/oauth/revoke',
  },
  google: {
    // The answer names the short scopes by their long names.
    scopes: ['email', 'https://www.googleapis.com/auth/analytics.readonly'],
    answers: (who) => ({
      'POST https://oauth2.googleapis.com/token': tokens(
        (_, isRefresh) => ({
          access_token: isRefresh ? 'access-2' : 'access-1',
          ...(!isRefresh && { refresh_token: 'refresh-1' }),
          expires_in: 3599,
          scope:
            'https://www.googleapis.com/auth/analytics.readonly https://www.googleapis.com/auth/userinfo.email openid',
          token_type: 'Bearer',
          id_token: idToken,
        }),
        both(isForm, isPost),
      ),
      'GET https://openidconnect.googleapis.com/v1/userinfo': (sent) =>
        withBearer(sent, pick(who, { sub: '1', email: 'ada@a.example' }, { sub: '2', email: 'bob@b.example' })),
      'POST https://oauth2.googleapis.com/revoke': (sent) =>
        isForm(sent) && sent.fields.token === 'refresh-1' ? { body: {} } : { status: 400 },
    }),
    labels: { first: 'ada@a.example', second: 'bob@b.example' },
    asked: {
      at: 'https://accounts.google.com/o/oauth2/v2/auth',
      params: {
        scope: 'openid email https://www.googleapis.com/auth/analytics.readonly',
        access_type: 'offline',
        prompt: 'consent',
      },
    },
    expiresInSeconds: 3599,
    refreshed: 'stays',
    revoked: 'POST https://oauth2.googleapis.com/revoke',
  },
  hubspot: {
    scopes: ['crm.objects.contacts.read'],
    answers: (who) => ({
      'POST https://api.hubapi.com/oauth/2026-03/token': tokens(
        (_, isRefresh) => ({
          ...rotating(isRefresh),
          refresh_token: 'refresh-1',
          token_type: 'bearer',
          expires_in: 1800,
          hub_id: pick(who, 1, 2),
          user_id: 77,
          scopes: ['oauth', 'crm.objects.contacts.read'],
        }),
        both(isForm, isPost),
      ),
      'POST https://api.hubapi.com/oauth/2026-03/token/introspect': (sent) =>
        isForm(sent) && isPost(sent) && sent.fields.token === 'access-1'
          ? {
              body: {
                active: true,
                token_use: 'access_token',
                hub_id: pick(who, 1, 2),
                hub_domain: pick(who, 'acme.example', 'globex.example'),
                user: 'ada@a.example',
                user_id: 77,
                scopes: ['oauth', 'crm.objects.contacts.read'],
              },
            }
          : unauthorized({ error: 'invalid_client' }),
      'POST https://api.hubapi.com/oauth/2026-03/token/revoke': (sent) =>
        isForm(sent) && isPost(sent) && sent.fields.token === 'refresh-1' ? { body: '' } : { status: 400 },
    }),
    labels: { first: 'acme.example', second: 'globex.example' },
    asked: { at: 'https://app.hubspot.com/oauth/authorize', params: { scope: 'crm.objects.contacts.read' } },
    granted: ['crm.objects.contacts.read', 'oauth'],
    given: { hub_id: '1' },
    expiresInSeconds: 1800,
    refreshed: 'stays',
    revoked: 'POST https://api.hubapi.com/oauth/2026-03/token/revoke',
  },
  intercom: {
    scopes: [],
    values: { app_host: 'app.eu.intercom.com' },
    answers: (who) => ({
      'POST https://api.eu.intercom.io/auth/eagle/token': (sent) =>
        isForm(sent) && isPost(sent) && sent.fields.code === 'the code'
          ? { body: { token_type: 'Bearer', token: 'access-1', access_token: 'access-1' } }
          : unauthorized({ type: 'error.list', errors: [{ code: 'server_error', message: 'Unauthorized Code' }] }),
      'GET https://api.eu.intercom.io/me': (sent) =>
        withBearer(sent, {
          type: 'admin',
          ...pick(who, { id: '1', email: 'ada@a.example' }, { id: '2', email: 'bob@b.example' }),
          app: { type: 'app', id_code: 'abc', region: 'EU' },
        }),
    }),
    labels: { first: 'ada@a.example', second: 'bob@b.example' },
    asked: { at: 'https://app.eu.intercom.com/oauth', params: { scope: null, code_challenge: null } },
    given: { api_host: 'api.eu.intercom.io' },
    expiresInSeconds: null,
  },
  linear: {
    scopes: ['read', 'issues:create'],
    answers: (who) => ({
      'POST https://api.linear.app/oauth/token': tokens(
        (_, isRefresh) => ({
          ...rotating(isRefresh),
          token_type: 'Bearer',
          expires_in: 86_399,
          scope: 'read issues:create',
        }),
        both(isForm, isPost),
      ),
      'POST https://api.linear.app/graphql': (sent) =>
        isJson(sent) && String(sent.fields.query).includes('viewer')
          ? withBearer(sent, {
              data: {
                viewer: {
                  id: pick(who, 'u1', 'u2'),
                  email: 'ada@a.example',
                  organization: { id: pick(who, 'o1', 'o2'), name: pick(who, 'Acme', 'Globex') },
                },
              },
            })
          : { status: 400, body: { errors: [{ message: 'no query' }] } },
      'POST https://api.linear.app/oauth/revoke': (sent) =>
        isForm(sent) && sent.fields.token === 'refresh-1' ? { body: {} } : { status: 400 },
    }),
    labels: { first: 'Acme', second: 'Globex' },
    asked: { at: 'https://linear.app/oauth/authorize', params: { scope: 'read,issues:create', prompt: 'consent' } },
    granted: ['issues:create', 'read'],
    expiresInSeconds: 86_399,
    refreshed: 'rotates',
    revoked: 'POST https://api.linear.app/oauth/revoke',
  },
  mailchimp: {
    scopes: [],
    answers: (who) => ({
      'POST https://login.mailchimp.com/oauth2/token': (sent) =>
        isForm(sent) && isPost(sent) && sent.fields.code === 'the code'
          ? { body: { access_token: 'access-1', expires_in: 0, scope: null } }
          : { status: 400, body: { error: 'invalid_grant' } },
      'GET https://login.mailchimp.com/oauth2/metadata': ({ headers }) =>
        headers.authorization === 'OAuth access-1'
          ? {
              body: {
                dc: 'us6',
                role: 'owner',
                accountname: pick(who, 'Acme', 'Globex'),
                user_id: pick(who, 1, 2),
                login: { email: 'ada@a.example' },
                login_url: 'https://login.mailchimp.com',
                api_endpoint: 'https://us6.api.mailchimp.com',
              },
            }
          : { body: { error: 'invalid_token' } },
    }),
    labels: { first: 'Acme', second: 'Globex' },
    asked: { at: 'https://login.mailchimp.com/oauth2/authorize', params: { scope: null } },
    given: { data_center: 'us6', api_endpoint: 'https://us6.api.mailchimp.com' },
    expiresInSeconds: null,
  },
  microsoft: {
    // `offline_access` is granted with the refresh token, and in no answer.
    scopes: ['offline_access', 'Mail.Read'],
    answers: (who) => ({
      'POST https://login.microsoftonline.com/common/oauth2/v2.0/token': tokens(
        (_, isRefresh) => ({
          ...rotating(isRefresh),
          token_type: 'Bearer',
          scope: 'email openid profile Mail.Read User.Read',
          expires_in: 3599,
          ext_expires_in: 3599,
          id_token: idToken,
        }),
        both(isForm, isPost),
      ),
      'GET https://graph.microsoft.com/v1.0/me': (sent) =>
        withBearer(
          sent,
          pick(who, { id: '1', userPrincipalName: 'ada@a.example' }, { id: '2', userPrincipalName: 'bob@b.example' }),
        ),
    }),
    labels: { first: 'ada@a.example', second: 'bob@b.example' },
    asked: {
      at: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
      params: { scope: 'offline_access openid email profile User.Read Mail.Read' },
    },
    expiresInSeconds: 3599,
    refreshed: 'rotates',
  },
  notion: {
    scopes: [],
    answers: (who) => ({
      'POST https://api.notion.com/v1/oauth/token': tokens(
        (_, isRefresh) => ({
          ...rotating(isRefresh),
          token_type: 'bearer',
          bot_id: 'b1',
          workspace_id: pick(who, 'w1', 'w2'),
          workspace_name: pick(who, 'Acme', 'Globex'),
          owner: { type: 'user' },
        }),
        both(isJson, isBasic),
      ),
      'POST https://api.notion.com/v1/oauth/revoke': (sent) =>
        isJson(sent) && isBasic(sent) && sent.headers['notion-version'] && sent.fields.token === 'access-1'
          ? { body: { request_id: 'r' } }
          : { status: 400, body: { object: 'error', status: 400, code: 'validation_error' } },
    }),
    labels: { first: 'Acme', second: 'Globex' },
    asked: { at: 'https://api.notion.com/v1/oauth/authorize', params: { owner: 'user', scope: null } },
    expiresInSeconds: null,
    refreshed: 'rotates',
    revoked: 'POST https://api.notion.com/v1/oauth/revoke',
  },
  quickbooks: {
    scopes: ['com.intuit.quickbooks.accounting'],
    redirect: (who) => ({ realmId: pick(who, '4620816365', '9341452') }),
    answers: () => ({
      'POST https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer': tokens(
        (_, isRefresh) => ({
          ...rotating(isRefresh),
          token_type: 'bearer',
          expires_in: 3600,
          x_refresh_token_expires_in: 8_726_400,
        }),
        both(isForm, isBasic),
      ),
      'POST https://developer.api.intuit.com/v2/oauth2/tokens/revoke': (sent) =>
        isJson(sent) && isBasic(sent) && sent.fields.token === 'refresh-1' ? { body: '' } : { status: 400 },
    }),
    labels: { first: '4620816365', second: '9341452' },
    asked: {
      at: 'https://appcenter.intuit.com/connect/oauth2',
      params: { scope: 'com.intuit.quickbooks.accounting', code_challenge: null },
    },
    given: { realm_id: '4620816365' },
    expiresInSeconds: 3600,
    refreshed: 'rotates',
    revoked: 'POST https://developer.api.intuit.com/v2/oauth2/tokens/revoke',
  },
  salesforce: {
    scopes: ['api'],
    values: { host: 'acme--dev.sandbox.my.salesforce.com' },
    answers: (who) => ({
      'POST https://acme--dev.sandbox.my.salesforce.com/services/oauth2/token': tokens(
        (_, isRefresh) => ({
          access_token: isRefresh ? 'access-2' : 'access-1',
          ...(!isRefresh && { refresh_token: 'refresh-1' }),
          signature: 's',
          scope: 'refresh_token api',
          instance_url: 'https://acme--dev.sandbox.my.salesforce.com',
          id: `https://test.salesforce.com/id/00D/${pick(who, '0051', '0052')}`,
          token_type: 'Bearer',
          issued_at: '1700000000000',
        }),
        both(isForm, isPost),
      ),
      'POST https://acme--dev.sandbox.my.salesforce.com/services/oauth2/revoke': (sent) =>
        isForm(sent) && sent.fields.token === 'refresh-1' ? { body: '' } : { status: 400 },
    }),
    labels: {
      first: 'https://test.salesforce.com/id/00D/0051',
      second: 'https://test.salesforce.com/id/00D/0052',
    },
    asked: { at: 'https://acme--dev.sandbox.my.salesforce.com/services/oauth2/authorize' },
    given: {
      instance_url: 'https://acme--dev.sandbox.my.salesforce.com',
      host: 'acme--dev.sandbox.my.salesforce.com',
    },
    expiresInSeconds: 7200,
    refreshed: 'stays',
    revoked: 'POST https://acme--dev.sandbox.my.salesforce.com/services/oauth2/revoke',
  },
  shopify: {
    // The answer leaves out what may be read because it may be written.
    scopes: ['read_orders', 'read_products', 'write_products'],
    values: { shop: 'acme' },
    // Whatever the redirect says, the shop is the one that the customer entered.
    redirect: () => ({ shop: 'evil.example', hmac: 'h', timestamp: '1' }),
    answers: (who) => ({
      'POST https://acme.myshopify.com/admin/oauth/access_token': tokens(
        ({ fields }, isRefresh) => ({
          access_token: isRefresh ? 'access-2' : 'access-1',
          scope: 'read_orders,write_products',
          ...(fields.expiring === '1' && {
            expires_in: 3600,
            refresh_token: isRefresh ? 'refresh-2' : 'refresh-1',
            refresh_token_expires_in: 7_776_000,
          }),
        }),
        both(isForm, isPost),
      ),
      'GET https://acme.myshopify.com/admin/api/2026-07/shop.json': ({ headers }) =>
        headers['x-shopify-access-token'] === 'access-1' && headers.authorization === undefined
          ? { body: { shop: { id: pick(who, 1, 2), name: pick(who, 'Acme', 'Globex') } } }
          : unauthorized({ errors: '[API] Invalid API key or access token' }),
    }),
    labels: { first: 'Acme', second: 'Globex' },
    asked: {
      at: 'https://acme.myshopify.com/admin/oauth/authorize',
      params: { scope: 'read_orders,read_products,write_products', code_challenge: null },
    },
    given: { shop: 'acme' },
    granted: ['read_orders', 'write_products'],
    expiresInSeconds: 3600,
    refreshed: 'rotates',
  },
  slack: {
    scopes: ['channels:read', 'users:read'],
    answers: (who) => ({
      'POST https://slack.com/api/oauth.v2.access': ({ fields }) =>
        fields.client_secret === 'secret' && (fields.code === 'the code' || fields.refresh_token === 'refresh-1')
          ? {
              body: {
                ok: true,
                ...rotating(fields.refresh_token !== undefined),
                token_type: 'bot',
                expires_in: 43_200,
                scope: 'channels:read,users:read',
                team: { id: pick(who, 'T1', 'T2'), name: pick(who, 'Acme', 'Globex') },
                authed_user: { id: 'U1' },
              },
            }
          : { body: { ok: false, error: 'invalid_code' } },
      'POST https://slack.com/api/auth.revoke': ({ fields }) => ({
        body:
          fields.token === 'refresh-1' ? { ok: true, revoked: true } : { ok: false, error: 'not_allowed_token_type' },
      }),
    }),
    labels: { first: 'Acme', second: 'Globex' },
    asked: {
      at: 'https://slack.com/oauth/v2/authorize',
      params: { scope: 'channels:read,users:read', user_scope: null, code_challenge: null },
    },
    granted: ['channels:read', 'users:read'],
    expiresInSeconds: 43_200,
    refreshed: 'rotates',
    revoked: 'POST https://slack.com/api/auth.revoke',
  },
  slack_user: {
    scopes: ['search:read', 'channels:history'],
    answers: (who) => ({
      'POST https://slack.com/api/oauth.v2.access': ({ fields }) => {
        const isRefresh = fields.refresh_token === 'refresh-1';
        const user = {
          ...rotating(isRefresh),
          token_type: 'user',
          expires_in: 43_200,
          scope: 'search:read,channels:history',
        };
        if (!isRefresh && fields.code !== 'the code') return { body: { ok: false, error: 'invalid_code' } };
        const team = { id: pick(who, 'T1', 'T2'), name: pick(who, 'Acme', 'Globex') };
        // A refresh has the tokens where others have them.
        return isRefresh
          ? { body: { ok: true, ...user, team } }
          : { body: { ok: true, app_id: 'A1', team, authed_user: { id: 'U1', ...user } } };
      },
      'POST https://slack.com/api/auth.revoke': ({ fields }) => ({
        body: fields.token === 'refresh-1' ? { ok: true, revoked: true } : { ok: false, error: 'invalid_auth' },
      }),
    }),
    labels: { first: 'Acme', second: 'Globex' },
    asked: {
      at: 'https://slack.com/oauth/v2/authorize',
      params: { user_scope: 'search:read,channels:history', scope: null },
    },
    granted: ['channels:history', 'search:read'],
    expiresInSeconds: 43_200,
    refreshed: 'rotates',
    revoked: 'POST https://slack.com/api/auth.revoke',
  },
  stripe: {
    scopes: ['read_only'],
    answers: (who) => ({
      'POST https://connect.stripe.com/oauth/token': tokens(
        (_, isRefresh) => ({
          access_token: isRefresh ? 'access-2' : 'access-1',
          refresh_token: 'refresh-1',
          livemode: true,
          token_type: 'bearer',
          stripe_publishable_key: 'pk_1',
          stripe_user_id: pick(who, 'acct_1', 'acct_2'),
          scope: 'read_only',
        }),
        both(isForm, ({ fields }) => fields.client_secret === 'secret'),
      ),
    }),
    labels: { first: 'acct_1', second: 'acct_2' },
    asked: { at: 'https://connect.stripe.com/oauth/authorize', params: { scope: 'read_only' } },
    given: { stripe_user_id: 'acct_1' },
    expiresInSeconds: null,
    refreshed: 'stays',
  },
  xero: {
    scopes: ['accounting.transactions.read'],
    answers: (who) => ({
      'POST https://identity.xero.com/connect/token': tokens(
        (_, isRefresh) => ({
          ...rotating(isRefresh),
          token_type: 'Bearer',
          expires_in: 1800,
          scope: 'accounting.transactions.read offline_access',
        }),
        both(isForm, isBasic),
      ),
      // Every organization that the user has ever connected to the app; the newest is the one of this sign-in.
      'GET https://api.xero.com/connections': (sent) => {
        const of = (tenant: string, name: string, updatedDateUtc: string) => ({
          id: `c-${tenant}`,
          authEventId: `e-${tenant}`,
          tenantId: tenant,
          tenantType: 'ORGANISATION',
          tenantName: name,
          createdDateUtc: '2024-01-01T00:00:00.0000000',
          updatedDateUtc,
        });
        const acme = of('t1', 'Acme', '2026-01-01T00:00:00.0000000');
        const globex = of('t2', 'Globex', pick(who, '2025-01-01T00:00:00.0000000', '2026-02-01T00:00:00.0000000'));
        return withBearer(sent, [acme, globex]);
      },
      'POST https://identity.xero.com/connect/revocation': (sent) =>
        isForm(sent) && isBasic(sent) && sent.fields.token === 'refresh-1' ? { body: '' } : { status: 400 },
    }),
    labels: { first: 'Acme', second: 'Globex' },
    asked: {
      at: 'https://login.xero.com/identity/connect/authorize',
      params: { scope: 'offline_access accounting.transactions.read' },
    },
    given: { tenant_id: 't1' },
    expiresInSeconds: 1800,
    refreshed: 'rotates',
    revoked: 'POST https://identity.xero.com/connect/revocation',
  },
  zendesk: {
    scopes: ['read'],
    values: { subdomain: 'acme' },
    answers: (who) => ({
      'POST https://acme.zendesk.com/oauth/tokens': tokens(
        (_, isRefresh) => ({
          ...rotating(isRefresh),
          token_type: 'bearer',
          scope: 'read',
          expires_in: 172_800,
          refresh_token_expires_in: 7_776_000,
        }),
        both(isJson, isPost),
      ),
      'GET https://acme.zendesk.com/api/v2/users/me.json': (sent) =>
        withBearer(sent, {
          user: pick(who, { id: 1, email: 'ada@a.example' }, { id: 2, email: 'bob@b.example' }),
        }),
      'DELETE https://acme.zendesk.com/api/v2/oauth/tokens/current.json': (sent) =>
        Object.keys(sent.fields).length > 0 ? { status: 400 } : { ...withBearer(sent, ''), status: 204 },
    }),
    labels: { first: 'ada@a.example', second: 'bob@b.example' },
    asked: { at: 'https://acme.zendesk.com/oauth/authorizations/new', params: { scope: 'read' } },
    given: { subdomain: 'acme' },
    expiresInSeconds: 172_800,
    refreshed: 'rotates',
    revoked: 'DELETE https://acme.zendesk.com/api/v2/oauth/tokens/current.json',
  },
};

/** A network on which one provider answers. What it was asked is kept, by method and address. */
export function modelNetwork(model: ProviderModel) {
  const asked: string[] = [];
  const state = { who: 'first' as Who };
  async function request(url: string, { method, headers, body = '' }: ProviderRequest) {
    const key = `${method} ${url}`;
    asked.push(key);
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const isText = body === '' || !body.startsWith('{');
    const fields = isText ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body);
    const answer = model.answers(state.who)[key]?.({ method, headers: lower, fields }) ?? { status: 404, body: {} };
    const { status = 200, body: said = {} } = answer;
    return { status, contentType: 'application/json', body: said === '' ? '' : JSON.stringify(said) };
  }
  const network: ProviderNetwork = { request, addressFault: () => undefined };
  return { network, asked, state };
}
