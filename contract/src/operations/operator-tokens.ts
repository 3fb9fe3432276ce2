/** Operations that manage operator tokens. A secret is shown in exactly one answer: when it is created. */
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
    description: 'Oldest first, revoked ones included. Rotate tokens about every 90 days.',
    answer: OperatorTokenList,
  },
  create: {
    ...about,
    route: 'POST /api/v1/operator-tokens',
    summary: 'Create operator token',
    description: 'The secret is shown only once.',
    body: CreateOperatorTokenRequest,
    status: 201,
    isAdministration: true,
    answer: OperatorTokenWithSecret,
  },
  revoke: {
    ...about,
    route: 'DELETE /api/v1/operator-tokens/{operator_token_id}',
    summary: 'Revoke operator token',
    description: 'In force at once, on other replicas within two seconds; also for the token that makes the call.',
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
      'Creates a token of the same name, permission and expiry, and revokes the old one now or after an overlap. A token that is revoked or has expired cannot be rotated.',
    params: OperatorTokenPath,
    body: RotateOperatorTokenRequest,
    status: 201,
    isAdministration: true,
    answer: OperatorTokenWithSecret,
    errors: ['operator_token_not_found', 'operator_token_ended'],
  },
} as const satisfies Record<string, Operation>;
