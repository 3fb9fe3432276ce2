/** Failures of requests, with one kind per remedy. */
import type { Fault } from '@inlay/contract/errors';

export type FailureKind =
  /** The customer's machine has no network. */
  | 'offline'
  /** No answer, or none in time. The request may still have taken effect. */
  | 'unreachable'
  | 'access_denied'
  /** An operator views the customer's widget and pressed a button that would change something. */
  | 'only_view'
  | 'not_found'
  | 'conflict'
  /** A quota was exceeded. */
  | 'limit_reached'
  | 'invalid'
  | 'rate_limited'
  /** The service or its platform is temporarily unable to do it. */
  | 'unavailable';

export interface ReachedQuota {
  quota: string;
  limit: number;
  until?: string;
  text: string;
}

export class RequestFailure extends Error {
  readonly kind: FailureKind;
  readonly faults: readonly Fault[];
  readonly retryAfterMs: number | undefined;
  /** The exceeded quota, with the service's own text. */
  readonly quota: ReachedQuota | undefined;

  constructor(
    kind: FailureKind,
    {
      faults = [],
      retryAfterMs,
      quota,
      cause,
    }: {
      faults?: readonly Fault[];
      retryAfterMs?: number | undefined;
      quota?: ReachedQuota | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(kind, { cause });
    this.kind = kind;
    this.faults = faults;
    this.retryAfterMs = retryAfterMs;
    this.quota = quota;
  }

  /** Whether retrying the same request may succeed. */
  get isPassing(): boolean {
    return ['offline', 'unreachable', 'rate_limited', 'unavailable'].includes(this.kind);
  }

  /** Whether the request may have taken effect although it failed. */
  get isAmbiguous(): boolean {
    return this.kind === 'offline' || this.kind === 'unreachable' || this.kind === 'unavailable';
  }
}

/** Any other error is a bug in the widget, shown like an error of the service. */
export function failureOf(error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error;
  console.error(error);
  return new RequestFailure('unavailable', { cause: error });
}

export async function readFailure(response: Response): Promise<RequestFailure> {
  const { status } = response;
  const retryAfterSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfterMs = retryAfterSeconds >= 0 ? retryAfterSeconds * 1000 : undefined;
  if (response.headers.get('x-inlay-error') === 'quota_reached') {
    const parameters = new Map(
      (response.headers.get('x-inlay-error-parameters') ?? '')
        .split('; ')
        .map((one) => one.split('=') as [string, string]),
    );
    const until = parameters.get('until');
    const text = String((await readDetail(response)) ?? '');
    const [quota = '', limit] = [parameters.get('quota'), Number(parameters.get('limit'))];
    return new RequestFailure('limit_reached', {
      quota: { quota, limit, text, ...(until !== undefined && { until }) },
    });
  }
  return new RequestFailure(kindOf(status), {
    retryAfterMs,
    ...(status === 422 ? { faults: await readFaults(response) } : {}),
  });
}

function kindOf(status: number): FailureKind {
  switch (status) {
    case 401:
    case 403:
      return 'access_denied';
    case 404:
      return 'not_found';
    case 409:
      return 'conflict';
    case 422:
      return 'invalid';
    case 429:
      return 'rate_limited';
    default:
      return 'unavailable';
  }
}

async function readFaults(response: Response): Promise<Fault[]> {
  const detail = await readDetail(response);
  const isFault = (value: unknown): value is Fault =>
    typeof value === 'object' && value !== null && Array.isArray((value as Fault).loc) && 'msg' in value;
  return Array.isArray(detail) ? detail.filter(isFault) : [];
}

async function readDetail(response: Response): Promise<unknown> {
  const body = (await response.json().catch(() => null)) as { detail?: unknown } | null;
  return body?.detail;
}
