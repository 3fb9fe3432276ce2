/** Operations that issue, inspect and revoke scoped and widget tokens, and publish the keys that verify them. */
import { Type } from 'typebox';
import {
  RevokeTokenRequest,
  RevokeTokenResponse,
  ScopedTokenInfo,
  ScopedTokenRequest,
  TokenResponse,
  WidgetTokenRequest,
} from '../tenancy/tokens.ts';
import type { Operation } from './operation.ts';

const infoPath = '/api/v1/embedded/scoped-token/info';
const creationErrors = [
  'workspace_being_deleted',
  'creation_unconfirmed',
  'creation_timed_out',
  'creation_pending',
  'platform_unavailable',
  'platform_rate_limited',
  'platform_credentials_rejected',
  'platform_refused',
] as const;
const issuedTokenHeaders = ['X-Inlay-Workspace-Id', 'X-Inlay-Token-Expires-At'] as const;
const about = { access: 'operator', tag: 'Tokens' } as const;
const oldInfo = {
  access: 'scoped',
  tag: 'Tokens',
  summary: 'Get scoped token information (old path)',
  description: `Use \`${infoPath}\` instead.`,
  deprecated: true,
  answer: ScopedTokenInfo,
} as const;

export const tokens = {
  createScoped: {
    ...about,
    route: 'POST /api/v1/embedded/scoped-token',
    summary: 'Generate scoped token',
    description:
      'Creates a token for a single workspace, given by name. If the workspace is unknown, Inlay looks it up on the platform, and creates it if needed. The response names the workspace in `X-Inlay-Workspace-Id` and, if the token expires, the time in `X-Inlay-Token-Expires-At`.',
    body: ScopedTokenRequest,
    isRepeatable: true,
    answer: TokenResponse,
    answerHeaders: issuedTokenHeaders,
    errors: creationErrors,
  },
  createWidget: {
    ...about,
    route: 'POST /api/v1/embedded/widget-token',
    summary: 'Generate widget token',
    description:
      'Creates a token for the embedded widget, bound to a single browser origin and restricted to templates that match the tags. Use its `widgetUrl` as the source of an iframe. The response names the workspace in `X-Inlay-Workspace-Id` and, if the token expires, the time in `X-Inlay-Token-Expires-At`.',
    body: WidgetTokenRequest,
    isRepeatable: true,
    answer: TokenResponse,
    answerHeaders: issuedTokenHeaders,
    errors: creationErrors,
  },
  getScopedInfo: {
    route: `GET ${infoPath}`,
    access: 'scoped',
    tag: 'Tokens',
    summary: 'Get scoped token information',
    answer: ScopedTokenInfo,
  },
  /** Deprecated before the first release. */
  getScopedInfoAtOldPath: { ...oldInfo, route: 'GET /api/v1/embedded/scoped-token-info' },
  getCurrentScoped: { ...oldInfo, route: 'GET /api/v1/embedded/organizations/current-scoped' },
  revoke: {
    ...about,
    route: 'POST /api/v1/embedded/tokens/revoke',
    summary: 'Revoke a scoped or widget token',
    description:
      'Revokes a token immediately, within two seconds on other replicas. Revoking a token twice is allowed. Tokens of other organizations are not affected.',
    body: RevokeTokenRequest,
    isRepeatable: true,
    answer: RevokeTokenResponse,
  },
  listKeys: {
    route: 'GET /.well-known/jwks.json',
    access: 'public',
    tag: 'Tokens',
    summary: 'Public keys that verify scoped tokens',
    answer: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.String())) }, { title: 'JSON Web Key Set' }),
  },
} as const satisfies Record<string, Operation>;
