/**
 * Every failure that the platform reports to its callers, in the two shapes of the public API it imitates: a problem
 * object that names what went wrong, or a bare `errorId` whose meaning is only in the log. The list is closed; anything
 * else is an internal error and reveals nothing. `type` and `title` are identifiers that clients match.
 */

const reference = 'https://reference.airbyte.com/reference/errors';

const problems = {
  'bad-request': {
    status: 400,
    type: `${reference}#bad-request`,
    detail: 'The request is invalid.',
  },
  'value-not-found': { status: 400, type: reference, detail: 'The request refers to something that does not exist.' },
  'cron-validation/invalid-expression': {
    status: 400,
    type: 'error:cron-validation/invalid-expression',
    detail: 'The cron expression is not a valid Quartz expression.',
  },
  'invalid-api-key': {
    status: 401,
    type: `${reference}#invalid-api-key`,
    detail: 'The access token is missing, invalid or expired.',
  },
  forbidden: { status: 403, type: `${reference}#forbidden`, detail: 'The request is not permitted.' },
  'resource-not-found': {
    status: 404,
    type: `${reference}#resource-not-found`,
    detail: 'The resource does not exist or was deleted.',
  },
  'request-timeout-exceeded': {
    status: 408,
    type: 'error:request-timeout-exceeded',
    detail: 'The request took too long.',
  },
  'state-conflict': {
    status: 409,
    type: `${reference}#409-state-conflict`,
    detail: 'The state of the resource does not allow the request.',
  },
  'try-again-later': {
    status: 409,
    type: `${reference}#try-again-later`,
    detail: 'The request cannot be processed right now. Try again later.',
  },
  'unprocessable-entity': {
    status: 422,
    type: `${reference}#unprocessable-entity`,
    detail: 'The request is well-formed, but its content is not valid.',
  },
  'queue-full': {
    status: 429,
    type: 'error:queue-full',
    detail: 'The queue of this workspace is full.',
  },
  'too-many-requests': { status: 429, type: reference, detail: 'Too many requests of this kind.' },
  'unexpected-problem': { status: 500, type: reference, detail: 'A required operation failed unexpectedly.' },
  'service-unavailable': { status: 503, type: reference, detail: 'The platform is busy. Try again.' },
} as const;

type ProblemTitle = keyof typeof problems;

interface ProblemOptions extends ErrorOptions {
  /** When it is worth trying again. */
  retryAfterSeconds?: number;
}

export class Problem extends Error {
  override readonly name = 'Problem';
  readonly title: ProblemTitle;
  readonly data: Record<string, unknown> | null;
  readonly retryAfterSeconds: number | undefined;

  constructor(title: ProblemTitle, data: Record<string, unknown> | null = null, options: ProblemOptions = {}) {
    super(problems[title].detail, options);
    this.title = title;
    this.data = data;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return problems[this.title].status;
  }

  toBody() {
    const { status, type, detail } = problems[this.title];
    return { status, type, title: this.title, detail, documentationUrl: null, data: this.data };
  }
}

/** A refusal that shows the caller only an `errorId`; the message is for the log and must not quote the request. */
export class OpaqueRefusal extends Error {
  override readonly name = 'OpaqueRefusal';
  readonly status: 400 | 401 | 404 | 422;

  constructor(status: OpaqueRefusal['status'], message: string) {
    super(message);
    this.status = status;
  }
}

export function resourceNotFound(resourceType: string, resourceId: string): Problem {
  return new Problem('resource-not-found', { resourceType, resourceId });
}
