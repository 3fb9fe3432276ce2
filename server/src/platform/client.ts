/**
 * The one platform client. It speaks the hosted platform's public API over a transport and translates each foreign
 * failure once. What always holds: a create is sent at most once; redirects are not followed; the platform's own words
 * go to the log, never to a caller; only workspaces of the organization asked for are ever returned.
 */
import type { Runtime } from '../runtime.ts';
import { AccessToken, type ClientCredentials } from './access-token.ts';
import { NameScan } from './name-scan.ts';
import { Breaker, Bulkhead } from './overload.ts';
import {
  type NewPlatformWorkspace,
  oldestFirst,
  type Platform,
  type PlatformConnection,
  PlatformError,
  type PlatformFailure,
  type PlatformWorkspace,
  sameName,
  type Written,
} from './platform.ts';
import { type PlatformAnswer, type PlatformRequest, type Transport, TransportError } from './transport.ts';

export interface PlatformClientOptions {
  transport: Transport;
  credentials: ClientCredentials;
  runtime: Runtime;
  /** Told of every call: for metrics and the log. */
  onCall?: (call: { operation: string; outcome: PlatformFailure | 'ok'; durationMs: number; error?: unknown }) => void;
}

/** How a request may be treated when it fails. `read` and `write` are idempotent by id; `create` is not. */
type Nature = 'read' | 'write' | 'create';

type Call = Pick<PlatformRequest, 'method' | 'path'> & { body?: object };

const timeouts: Record<Nature, number> = { read: 5_000, write: 8_000, create: 8_000 };
export const createTimeoutMs = timeouts.create;
const maxTries: Record<Nature, number> = { read: 4, write: 4, create: 1 };
const maxCallsInFlight = 16;
const pageSize = 100;
const maxRetryAfterSeconds = 60;
const maxWaitMs = 2_000;

export function createPlatformClient({ transport, credentials, runtime, onCall }: PlatformClientOptions): Platform {
  const accessToken = new AccessToken(transport, credentials, runtime);
  const breaker = new Breaker({ now: runtime.elapsed });
  const bulkhead = new Bulkhead(maxCallsInFlight);
  let nameFilterIgnored = false;

  async function call(operation: string, nature: Nature, request: Call): Promise<PlatformAnswer & Written> {
    let settled = true;
    for (let attempt = 1; ; attempt++) {
      const startedAt = runtime.elapsed();
      try {
        const answer = await bulkhead.run(() => attemptOnce(nature, request));
        onCall?.({ operation, outcome: 'ok', durationMs: runtime.elapsed() - startedAt });
        return { ...answer, settled };
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error;
        if (error.failure === 'unknown') settled = false;
        onCall?.({ operation, outcome: error.failure, durationMs: runtime.elapsed() - startedAt, error });
        const waitMs = (error.retryAfterSeconds ?? 0) * 1000;
        // A long wait is not ours to do: the caller passes it on, or tries again later.
        if (attempt >= maxTries[nature] || !isWorthRetrying(error) || breaker.isOpen || waitMs > maxWaitMs) throw error;
        // Full jitter: replicas that failed together do not come back together.
        const backoffMs = runtime.random() * Math.min(5_000, 200 * 2 ** (attempt - 1));
        await runtime.sleep(Math.max(backoffMs, waitMs));
      }
    }
  }

  async function attemptOnce(nature: Nature, request: Call): Promise<PlatformAnswer> {
    if (!breaker.admits()) {
      const retryAfterSeconds = breaker.retryAfterSeconds;
      throw new PlatformError('unavailable', 'the circuit breaker is open', { retryAfterSeconds });
    }
    let answer: PlatformAnswer;
    try {
      answer = await exchange(nature, request);
    } catch (error) {
      breaker.record(error instanceof PlatformError && error.failure === 'unauthorised');
      throw error;
    }
    breaker.record(answer.status < 500);
    const failure = failureOf(answer, nature);
    if (failure) throw failure;
    return answer;
  }

  async function exchange(nature: Nature, request: Call): Promise<PlatformAnswer> {
    try {
      const token = await accessToken.get();
      const answer = await send(nature, request, token);
      if (answer.status !== 401) return answer;
      // Certainly not applied: worth one more try with a fresh token, even for a create.
      accessToken.drop(token);
      return await send(nature, request, await accessToken.get());
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      const failure = error.sent && nature !== 'read' ? 'unknown' : 'unavailable';
      throw new PlatformError(failure, error.message, { cause: error, timedOut: error.timedOut });
    }
  }

  function send(nature: Nature, { method, path, body }: Call, token: string): Promise<PlatformAnswer> {
    return transport.send({
      method,
      path,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'user-agent': 'inlay',
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      timeoutMs: timeouts[nature],
      ...(nature === 'create' ? { freshConnection: true } : {}),
    });
  }

  /** Offsets are computed, never taken from links; an id is given once; a short or empty page is the last. */
  async function* pages(operation: string, path: string, query: Record<string, string>): AsyncGenerator<unknown[]> {
    for (let offset = 0; ; offset += pageSize) {
      const parameters = new URLSearchParams({ ...query, limit: String(pageSize), offset: String(offset) });
      const answer = await call(operation, 'read', { method: 'GET', path: `${path}?${parameters}` });
      const { data } = readable(answer) as { data?: unknown };
      if (!Array.isArray(data)) throw new PlatformError('unavailable', `${operation}: the platform sent no list`);
      if (data.length > 0) yield data;
      if (data.length < pageSize) return;
    }
  }

  async function* workspacePages(
    operation: string,
    organizationId: string,
    query: Record<string, string> = {},
  ): AsyncGenerator<PlatformWorkspace[]> {
    const seen = new Set<string>();
    for await (const items of pages(operation, '/workspaces', { organizationId, ...query })) {
      const page: PlatformWorkspace[] = [];
      for (const item of items as WorkspaceItem[]) {
        if (typeof item?.workspaceId !== 'string' || typeof item.name !== 'string' || item.deleted === true) continue;
        // A listing may ignore the filter for the organization; what says it is somebody else's is never ours.
        if (item.organizationId !== undefined && item.organizationId !== organizationId) continue;
        const id = item.workspaceId.toLowerCase();
        if (seen.has(id)) continue;
        seen.add(id);
        page.push({ id, name: item.name, ...(item.createdAt === undefined ? {} : { createdAt: item.createdAt }) });
      }
      yield page;
    }
  }

  const nameScan = new NameScan((organizationId) => workspacePages('scan_workspaces', organizationId));

  async function findWorkspacesByName(organizationId: string, name: string): Promise<PlatformWorkspace[]> {
    if (nameFilterIgnored) return await nameScan.find(organizationId, name);
    // A platform that knows the filter answers with equals only; one that ignores it gives itself away with the
    // first other name, and is then read in full, once for many askers.
    const found: PlatformWorkspace[] = [];
    for await (const page of workspacePages('find_workspaces', organizationId, { name })) {
      for (const workspace of page) {
        if (!sameName(workspace.name, name)) {
          nameFilterIgnored = true;
          return await nameScan.find(organizationId, name);
        }
        found.push(workspace);
      }
    }
    return found;
  }

  return {
    findWorkspacesByName: async (organizationId, name) => oldestFirst(await findWorkspacesByName(organizationId, name)),
    listWorkspaces: (organizationId) => workspacePages('list_workspaces', organizationId),
    async createWorkspace({ organizationId, name, regionId }: NewPlatformWorkspace) {
      const answer = await call('create_workspace', 'create', {
        method: 'POST',
        path: '/workspaces',
        body: { name, organizationId, regionId },
      });
      const { workspaceId } = readable(answer, 'unknown') as { workspaceId?: unknown };
      if (typeof workspaceId !== 'string') throw new PlatformError('unknown', 'created, but the answer has no id');
      return { id: workspaceId.toLowerCase(), name };
    },
    async renameWorkspace(id, name) {
      return await call('rename_workspace', 'write', { method: 'PATCH', path: `/workspaces/${id}`, body: { name } });
    },
    async deleteWorkspace(id) {
      await unlessGone(call('delete_workspace', 'write', { method: 'DELETE', path: `/workspaces/${id}` }));
    },
    async listConnections(workspaceId) {
      const connections = new Map<string, PlatformConnection>();
      for await (const items of pages('list_connections', '/connections', { workspaceIds: workspaceId })) {
        for (const item of items as ConnectionItem[]) {
          if (typeof item?.connectionId !== 'string' || item.workspaceId !== workspaceId) continue;
          connections.set(item.connectionId, { id: item.connectionId, status: String(item.status) });
        }
      }
      return [...connections.values()];
    },
    async setConnectionStatus(connectionId, status) {
      const path = `/connections/${connectionId}`;
      return await unlessGone(call('set_connection_status', 'write', { method: 'PATCH', path, body: { status } }));
    },
    async listOrganizations() {
      const answer = await call('list_organizations', 'read', { method: 'GET', path: '/organizations' });
      const { data } = readable(answer) as { data?: { organizationId?: unknown }[] };
      return (data ?? []).map((item) => String(item.organizationId));
    },
    close: () => transport.close(),
  };
}

interface WorkspaceItem {
  workspaceId?: unknown;
  name?: unknown;
  organizationId?: string;
  createdAt?: number;
  deleted?: unknown;
}

interface ConnectionItem {
  connectionId?: unknown;
  workspaceId?: unknown;
  status?: unknown;
}

function isWorthRetrying({ failure }: PlatformError): boolean {
  return failure === 'unavailable' || failure === 'throttled' || failure === 'unknown';
}

/** Translates an answer that is not a success; the body's words are kept, shortened, for the log only. */
function failureOf(answer: PlatformAnswer, nature: Nature): PlatformError | undefined {
  const { status, text } = answer;
  if (status >= 200 && status < 300) return undefined;
  const message = `the platform answered ${status}: ${text.slice(0, 500)}`;
  const retryAfterSeconds = retryAfterOf(answer);
  if (status === 429) return new PlatformError('throttled', message, { ...retryAfterSeconds });
  if (status === 401 || status === 403) return new PlatformError('unauthorised', message);
  if (status === 404 || status === 410) return new PlatformError('not_found', message);
  if (status === 408 || status >= 500) {
    const timedOut = status === 408 || status === 504;
    return new PlatformError(nature === 'read' ? 'unavailable' : 'unknown', message, {
      timedOut,
      ...retryAfterSeconds,
    });
  }
  return new PlatformError('rejected', message);
}

function retryAfterOf({ headers }: PlatformAnswer): { retryAfterSeconds?: number } {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? { retryAfterSeconds: Math.min(seconds, maxRetryAfterSeconds) } : {};
}

/** A success whose body cannot be read tells nothing: for a create that means the outcome is unknown. */
function readable({ text }: PlatformAnswer, otherwise: PlatformFailure = 'unavailable'): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch (cause) {
    throw new PlatformError(otherwise, 'the platform sent an unreadable answer', { cause });
  }
  throw new PlatformError(otherwise, 'the platform sent an unreadable answer');
}

/** What is gone needs no change, and nothing can still change it. */
async function unlessGone(work: Promise<Written>): Promise<Written> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PlatformError && error.failure === 'not_found') return { settled: true };
    throw error;
  }
}
