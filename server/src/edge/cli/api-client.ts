/**
 * The API of a running service, for commands: INLAY_URL names the service, INLAY_OPERATOR_TOKEN authorizes. The table of
 * operations types every request.
 */
import type { ErrorCode, FactsOf } from '@inlay/contract/error-catalogue';
import type { Fault } from '@inlay/contract/errors';
import type { AnswerTo, PartsOf, RouteFor } from '@inlay/contract/requests';
import { withSecretFiles } from '../../kernel/config/secret-files.ts';
import { AppError, type OperatorError } from '../../kernel/errors.ts';
import { CommandError, usageError } from './exit-codes.ts';
import { plain } from './output.ts';

export type ApiRoute = RouteFor<'operator'>;

export interface ApiClient {
  url: string;
  request<R extends ApiRoute>(route: R, parts: PartsOf<R>): Promise<AnswerTo<R>>;
  /** The body piece by piece, for answers that aren't JSON. */
  download<R extends ApiRoute>(route: R, parts: PartsOf<R>): AsyncIterable<string>;
  /** The service's clock in the last response; that of this machine may differ. */
  now(): number;
}

/** An error response, with the code and text that the service gave. */
export class ApiFailure extends AppError {
  readonly text: string;

  constructor(code: ErrorCode, text: string, faults: Fault[] | undefined) {
    super(code, (faults ? { faults } : {}) as FactsOf<ErrorCode>);
    this.text = text;
  }
}

/** Above the 30 seconds that a request for events may wait. */
const timeoutMs = 60_000;

type Environment = Readonly<Record<string, string | undefined>>;

export const meansService = ({ INLAY_URL }: Environment) => Boolean(INLAY_URL);

/** Undefined if commands work on the store of this machine. */
export function findApi(env: Environment, organizationId?: string): ApiClient | undefined {
  if (!env.INLAY_URL) return undefined;
  const url = readUrl(env.INLAY_URL);
  const headers = {
    authorization: `Bearer ${readToken(env)}`,
    // The service refuses a token of another organization.
    ...(organizationId !== undefined && { 'x-organization-id': organizationId }),
  };
  let now = Date.now();

  async function send<R extends ApiRoute>(route: R, parts: PartsOf<R>): Promise<Response> {
    const { ids = [], query, body } = parts as { ids?: (string | number)[]; query?: object; body?: object };
    const [method = '', path = ''] = route.split(' ');
    const given = Object.entries(query ?? {}).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const address = ids.reduce<string>((done, id) => done.replace(/{\w+}/, encodeURIComponent(id)), path);
    let response: Response;
    try {
      response = await fetch(`${url}/api/v1${address}${given.length > 0 ? `?${new URLSearchParams(given)}` : ''}`, {
        method,
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch (error) {
      throw unreachable(url, error as Error);
    }
    now = Date.parse(response.headers.get('date') ?? '') || Date.now();
    if (!response.ok) throw await failureOf(response, url);
    return response;
  }

  return {
    url,
    now: () => now,
    async request<R extends ApiRoute>(route: R, parts: PartsOf<R>) {
      const response = await send(route, parts);
      const answer = await readJson(response, url);
      if (answer === undefined) throw notInlay(url, response.status);
      return answer as AnswerTo<R>;
    },
    async *download(route, parts) {
      const { body } = await send(route, parts);
      const decoder = new TextDecoder();
      try {
        for await (const piece of body ?? []) yield decoder.decode(piece, { stream: true });
      } catch (error) {
        throw unreachable(url, error as Error);
      }
    },
  };
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable = url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash;
  if (!isUsable) throw usageError('INLAY_URL must be the URL of a service, for example https://inlay.example.com.');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function readToken({ INLAY_OPERATOR_TOKEN, INLAY_OPERATOR_TOKEN_FILE }: Environment): string {
  const faults: string[] = [];
  const env = withSecretFiles({ INLAY_OPERATOR_TOKEN, INLAY_OPERATOR_TOKEN_FILE }, faults);
  if (faults.length > 0) throw usageError(faults.join('\n'));
  // Other characters can't be in a header. The service would reject such a token.
  if (env.INLAY_OPERATOR_TOKEN && /^[!-~]+$/.test(env.INLAY_OPERATOR_TOKEN)) return env.INLAY_OPERATOR_TOKEN;
  throw usageError(
    'INLAY_URL is set, so INLAY_OPERATOR_TOKEN must be an operator token of that service.\nTo work on the data of this machine instead, unset INLAY_URL.',
  );
}

function unreachable(url: string, { message, cause }: Error): CommandError {
  const reason = cause instanceof Error ? (cause as NodeJS.ErrnoException).code || cause.message : message;
  return new CommandError(
    `Cannot reach ${url} (${plain(reason)}). Check INLAY_URL and that the service is running.`,
    'unreachable',
  );
}

function notInlay(url: string, status: number): CommandError {
  return new CommandError(
    `${url} returned ${status}, but not from Inlay's API. Check INLAY_URL, including any path prefix, and the proxy in front of Inlay.`,
    'unreachable',
  );
}

async function readJson(response: Response, url: string): Promise<unknown> {
  const text = await response.text().catch((error: Error) => {
    throw unreachable(url, error);
  });
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function failureOf(response: Response, url: string): Promise<OperatorError | AppError> {
  const { status, headers } = response;
  const code = headers.get('x-inlay-error');
  if (code === null) return notInlay(url, status);
  if (status === 401) {
    return new CommandError(
      `${url} rejected the operator token. Check INLAY_OPERATOR_TOKEN.\nTo create a token, run this where Inlay runs: inlay operator-token create --name <name>`,
      'refused',
    );
  }
  if (status === 403) {
    return new CommandError(
      "The operator token doesn't allow this. Tokens and secrets need the permission full, and other changes the permission operator.\nWith --organization, the token must belong to that organization.",
      'refused',
    );
  }
  const { detail } = ((await readJson(response, url)) ?? {}) as { detail?: unknown };
  const faults = Array.isArray(detail) ? (detail as Fault[]) : undefined;
  const text = faults ? faults.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('\n') : String(detail);
  const requestId = headers.get('x-request-id');
  const shown = `${text}${status >= 500 && requestId !== null ? `\nRequest ID: ${requestId}` : ''}`;
  return new ApiFailure(code as ErrorCode, shown, faults);
}
