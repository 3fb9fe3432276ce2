/**
 * The response headers that a caller may want to read: the meaning of each, for the API reference, and the list of
 * headers that browsers show to scripts of other origins. A new header of the API is added here and nowhere else.
 */

export interface ResponseHeader {
  description: string;
  type: 'string' | 'integer';
  example: string | number;
}

export const responseHeaders = {
  'X-Request-Id': {
    description: 'Identifies the request; every line that the request caused in the log of the service has it',
    type: 'string',
    example: '0e6b9c1e-7f1d-4a57-9d34-5b8f3f6a2c10',
  },
  'X-Trace-Id': {
    description:
      'Identifies the trace that the request is part of (W3C Trace Context): the trace of the request header `traceparent`, or a new one',
    type: 'string',
    example: '4bf92f3577b34da6a3ce929d0e0e4736',
  },
  'X-Inlay-Error': {
    description: 'The code of the error, from the closed list in docs/reference/errors.md',
    type: 'string',
    example: 'workspace_not_found',
  },
  'Retry-After': {
    description: 'After how many seconds a retry makes sense',
    type: 'integer',
    example: 5,
  },
  'Idempotency-Replayed': {
    description: '`true` on an answer that was stored for the `Idempotency-Key` of the request; otherwise absent',
    type: 'string',
    example: 'true',
  },
  'X-Inlay-Unknown': {
    description:
      'Query parameters and fields of the body that the endpoint does not know and has ignored. With the request header ' +
      '`Prefer: handling=strict` they are refused with 422 instead',
    type: 'string',
    example: 'query.name, body.theme.colour',
  },
  'Preference-Applied': {
    description: 'The preference of the request header `Prefer` that was followed (RFC 7240)',
    type: 'string',
    example: 'handling=strict',
  },
  'WWW-Authenticate': {
    description: 'The kind of token that is accepted',
    type: 'string',
    example: 'Bearer',
  },
  'RateLimit-Limit': {
    description:
      'Requests that the token, or all tokens of its workspace, may send within a minute: the limit that is nearer',
    type: 'integer',
    example: 1200,
  },
  'RateLimit-Remaining': {
    description: 'Requests that are left of the limit',
    type: 'integer',
    example: 1187,
  },
  'RateLimit-Reset': {
    description: 'In how many seconds the limit is full again',
    type: 'integer',
    example: 42,
  },
  'X-Inlay-Workspace-Id': {
    description: 'The workspace that an issued token is for',
    type: 'string',
    example: '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11',
  },
  'X-Inlay-Token-Expires-At': {
    description: 'When an issued token stops working (RFC 3339); absent: never, unless it is revoked',
    type: 'string',
    example: '2026-01-01T12:00:00.000Z',
  },
  Deprecation: {
    description: 'Since when the endpoint is deprecated (RFC 9745): `@` and seconds since 1970-01-01',
    type: 'string',
    example: '@1767225600',
  },
  Link: {
    description: 'Where the endpoint that replaces a deprecated one is (`rel="successor-version"`)',
    type: 'string',
    example: '</api/v1/embedded/scoped-token/info>; rel="successor-version"',
  },
} as const satisfies Record<string, ResponseHeader>;

export type ResponseHeaderName = keyof typeof responseHeaders;

/** The value of Access-Control-Expose-Headers. */
export const exposedHeaders = Object.keys(responseHeaders).join(', ');
