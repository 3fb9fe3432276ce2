/**
 * Response headers for callers, described for the API reference and exposed to scripts of other origins (CORS). New API
 * headers are only added here.
 */

export interface ResponseHeader {
  description: string;
  type: 'string' | 'integer';
  example: string | number;
}

export const responseHeaders = {
  'X-Request-Id': {
    description: 'Identifies the request. Included in all log lines that the request causes.',
    type: 'string',
    example: '0e6b9c1e-7f1d-4a57-9d34-5b8f3f6a2c10',
  },
  'X-Trace-Id': {
    description:
      'Identifies the trace of the request (W3C Trace Context): that of the `traceparent` request header, or a new one.',
    type: 'string',
    example: '4bf92f3577b34da6a3ce929d0e0e4736',
  },
  'X-Inlay-Error': {
    description: 'Code of the error, from the closed list in docs/reference/errors.md.',
    type: 'string',
    example: 'workspace_not_found',
  },
  'X-Inlay-Error-Parameters': {
    description: 'The parameters of the code, if it has any: `name=value`, separated by `; `.',
    type: 'string',
    example: 'quota=sources; limit=5',
  },
  'Retry-After': {
    description: 'Number of seconds to wait before retrying.',
    type: 'integer',
    example: 5,
  },
  'Idempotency-Replayed': {
    description: "`true` if the response was stored for the request's `Idempotency-Key`. Absent otherwise.",
    type: 'string',
    example: 'true',
  },
  'X-Inlay-Unknown': {
    description:
      'Unknown query parameters and body fields, which were ignored. With the request header `Prefer: handling=strict`, they return 422 instead.',
    type: 'string',
    example: 'query.name, body.theme.colour',
  },
  'Preference-Applied': {
    description: 'The preference of the `Prefer` request header that was applied (RFC 7240).',
    type: 'string',
    example: 'handling=strict',
  },
  'WWW-Authenticate': {
    description: 'The accepted type of token.',
    type: 'string',
    example: 'Bearer',
  },
  'RateLimit-Limit': {
    description:
      'Requests allowed per minute for the token or for all tokens of its workspace, whichever limit is closer.',
    type: 'integer',
    example: 1200,
  },
  'RateLimit-Remaining': {
    description: 'Requests left in the current minute.',
    type: 'integer',
    example: 1187,
  },
  'RateLimit-Reset': {
    description: 'Number of seconds until the limit resets.',
    type: 'integer',
    example: 42,
  },
  'X-Inlay-Workspace-Id': {
    description: 'The workspace of the issued token.',
    type: 'string',
    example: '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11',
  },
  'X-Inlay-Token-Expires-At': {
    description: 'When the issued token expires (RFC 3339). Absent if it does not expire.',
    type: 'string',
    example: '2026-01-01T12:00:00.000Z',
  },
  Deprecation: {
    description: 'When the endpoint was deprecated (RFC 9745): `@` and seconds since 1970-01-01.',
    type: 'string',
    example: '@1767225600',
  },
  Link: {
    description: 'The endpoint that replaces a deprecated one (`rel="successor-version"`).',
    type: 'string',
    example: '</api/v1/embedded/scoped-token/info>; rel="successor-version"',
  },
} as const satisfies Record<string, ResponseHeader>;

export type ResponseHeaderName = keyof typeof responseHeaders;

/** The value of Access-Control-Expose-Headers. */
export const exposedHeaders = Object.keys(responseHeaders).join(', ');
