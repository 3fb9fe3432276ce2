/** Operations that manage operator tokens. A secret is returned only when it is created. */
import {
  CreateOperatorTokenRequest,
  OperatorToken,
  OperatorTokenList,
  OperatorTokenPath,
  OperatorTokenWithSecret,
  RotateOperatorTokenRequest,
} from '../tenancy/tokens.ts';
import type { Operation } from './operation.ts';

const about = { access: 'operator', tag: 'Operator tokens' } as const;

export const operatorTokens = {
  list: {
    ...about,
    route: 'GET /api/v1/operator-tokens',
    summary: 'List operator tokens',
    description: 'Returns operator tokens, oldest first, including revoked ones. Rotate tokens about every 90 days.',
    answer: OperatorTokenList,
  },
  create: {
    ...about,
    route: 'POST /api/v1/operator-tokens',
    summary: 'Create operator token',
    description: 'Creates an operator token. The secret is returned only once.',
    body: CreateOperatorTokenRequest,
    status: 201,
    isAdministration: true,
    answer: OperatorTokenWithSecret,
  },
  revoke: {
    ...about,
    route: 'DELETE /api/v1/operator-tokens/{operator_token_id}',
    summary: 'Revoke operator token',
    description:
      'Revokes the token immediately, within two seconds on other replicas. Also works for the calling token.',
    params: OperatorTokenPath,
    isAdministration: true,
    answer: OperatorToken,
    errors: ['operator_token_not_found'],
  },
  rotate: {
    ...about,
    route: 'POST /api/v1/operator-tokens/{operator_token_id}/rotate',
    summary: 'Rotate operator token',
    description:
      'Creates a token with the same name, permission and expiry, and revokes the old one now or after an overlap. Tokens that are revoked or expired cannot be rotated.',
    params: OperatorTokenPath,
    body: RotateOperatorTokenRequest,
    status: 201,
    isAdministration: true,
    answer: OperatorTokenWithSecret,
    errors: ['operator_token_not_found', 'operator_token_ended'],
  },
} as const satisfies Record<string, Operation>;
