/**
 * Client of the public API, with the session cookie. Only this file calls `fetch` for JSON answers.
 *
 * Invariants: a failure carries the message, code and request id; writes carry the header that no other page can send.
 */
import type { AnswerTo, Given, PartsOf, RouteFor } from '@inlay/contract/requests';
import { basePath } from '../router/router.ts';

/** Long enough for a slow platform, short enough for a waiting user. */
const timeoutMs = 60_000;

export interface Fault {
  /** Path of the field in the body. */
  path: string[];
  message: string;
}

/** Client-side codes: `unreachable`, `unreadable` and `http_<status>`. All others come from the service. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** Validation errors of a 422. */
  readonly faults: readonly Fault[];

  constructor(
    text: string,
    {
      status,
      code,
      requestId,
      faults = [],
    }: { status: number; code: string; requestId?: string | undefined; faults?: readonly Fault[] },
  ) {
    super(text);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.faults = faults;
  }

  /** Whether the person has to sign in again. */
  get isSignedOut(): boolean {
    return this.status === 401;
  }
}

export type Query = Record<string, string | number | undefined>;

/** A request that can also be shown as a curl command. `path` is relative to `/api/v1`. */
export interface ApiRequest<Answer = unknown> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Query;
  body?: object;
  /** Values in the body that must never be shown. */
  secrets?: readonly string[];
  /** Never set. Carries the answer's type. */
  answer?: Answer;
}

/** Creates a request. The table of operations types its route, parts and answer. */
export function requestTo<R extends RouteFor<'operator'>>(
  route: R,
  ...[parts]: Given<PartsOf<R> & Pick<ApiRequest, 'secrets'>>
): ApiRequest<AnswerTo<R>> {
  const { ids = [], ...rest } = (parts ?? {}) as Pick<ApiRequest, 'query' | 'body' | 'secrets'> & { ids?: string[] };
  const [method, path] = route.split(' ') as [ApiRequest['method'], string];
  return { method, path: ids.reduce((done, id) => done.replace(/{\w+}/, encodeURIComponent(id)), path), ...rest };
}

export async function callApi<T>(request: ApiRequest<T>, signal?: AbortSignal): Promise<T> {
  return await send<T>(`api/v1${request.path}${searchOf(request.query)}`, request, signal);
}

/** The session's endpoints are outside the API. */
export async function callSession<T>(method: 'GET' | 'POST' | 'DELETE', path = '', body?: object): Promise<T> {
  return await send<T>(`session${path}`, { method, ...(body ? { body } : {}) });
}

/** URL of the operator's identity provider to sign in at. */
export async function beginOidc(): Promise<string> {
  return (await send<{ url: string }>('oidc', { method: 'POST', body: {} })).url;
}

/** The path and query of a `next` link, which names the public API. */
export function requestOfNext<T>(next: string): ApiRequest<T> {
  const { pathname, searchParams } = new URL(next);
  const path = pathname.slice(pathname.indexOf('/api/v1/') + '/api/v1'.length);
  return { method: 'GET', path, query: Object.fromEntries(searchParams) };
}

export function searchOf(query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
}

async function send<T>(path: string, { method, body }: Pick<ApiRequest, 'method' | 'body'>, signal?: AbortSignal) {
  const timeout = AbortSignal.timeout(timeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await fetch(basePath + path, {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(method === 'GET' ? {} : { 'x-inlay-console': '1' }),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      body: JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError('', { status: 0, code: 'unreachable' });
  }
  const answer = parsed(text);
  const requestId = response.headers.get('x-request-id') ?? undefined;
  if (response.ok && (answer !== undefined || text === '')) return answer as T;
  const code = response.headers.get('x-inlay-error') ?? (response.ok ? 'unreadable' : `http_${response.status}`);
  throw new ApiError(textOf(answer), { status: response.status, code, requestId, faults: faultsOf(answer) });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `detail` is a sentence, or with 422 a list of faults. */
function textOf(answer: unknown): string {
  const detail = (answer as { detail?: unknown } | undefined)?.detail;
  if (typeof detail === 'string') return detail;
  return faultsOf(answer)
    .map(({ path, message }) => `${path.join('.')}: ${message}`)
    .join('\n');
}

function faultsOf(answer: unknown): Fault[] {
  const detail = (answer as { detail?: unknown } | undefined)?.detail;
  if (!Array.isArray(detail)) return [];
  return detail.map(({ loc, msg }: { loc: (string | number)[]; msg: string }) => ({
    path: loc.slice(1).map(String),
    message: msg,
  }));
}
