/**
 * The one way to the service: the public API, with the cookie of the session. This file alone calls `fetch` for answers
 * in JSON.
 *
 * What always holds: a failure carries the text, the code and the id of the request; writes carry the header that no
 * other page can send.
 */
import type { AnswerTo, Given, PartsOf, RouteFor } from '@inlay/contract/requests';
import { basePath } from '../router/router.ts';

/** Long enough for a platform that answers slowly, short enough for a person who waits. */
const timeoutMs = 60_000;

export interface Fault {
  /** The way to the field in the body. */
  path: string[];
  message: string;
}

/** `unreachable`: there was no answer; `unreadable`: it was none of the service. Both are ours, all others the service's. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** With 422: what is wrong, field by field. */
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

/** A request that can also be shown as a command. `path` is below `/api/v1`. */
export interface ApiRequest<Answer = unknown> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Query;
  body?: object;
  /** Texts of the body that are shown nowhere. */
  secrets?: readonly string[];
  /** Never set: it carries the type of the answer. */
  answer?: Answer;
}

/** The only maker of requests: route, parts and answer have the types of the table of operations. */
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

/** The session is beside the API. */
export async function callSession<T>(method: 'GET' | 'POST' | 'DELETE', path = '', body?: object): Promise<T> {
  return await send<T>(`session${path}`, { method, ...(body ? { body } : {}) });
}

/** Where the operator's identity provider asks who is signing in. */
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
