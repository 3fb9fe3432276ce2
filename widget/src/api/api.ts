/**
 * The service as the widget sees it: every call with the customer's token, on the widget's own origin.
 *
 * What always holds: every call ends with an answer or with a `RequestFailure`. A call is sent again only when its
 * token was refused, because then nothing was done, and only once. The caller can abort a call.
 */
import type { ChooseForConnectionRequest, Connection, ConnectionStream, Job } from '@inlay/contract/connections';
import type { OfferedSourceTemplate, OfferedSourceTemplateList } from '@inlay/contract/source-templates';
import type {
  Check,
  CheckSourceRequest,
  CreateSourceRequest,
  RecheckSourceRequest,
  Source,
  SourceSummary,
  UpdateSourceRequest,
} from '@inlay/contract/sources';
import { RequestFailure, readFailure } from './failure.ts';
import type { Session } from './session.ts';

const timeoutMs = 30_000;
/** The service waits up to 25 s for the platform before it answers. */
const deletionTimeoutMs = 45_000;

export type Offer = OfferedSourceTemplateList['data'][number];

export interface Api {
  /** Any other call, with a path below that of embedded endpoints. */
  request<T>(call: Call): Promise<T>;
  listOffers(signal: AbortSignal): Promise<Offer[]>;
  getOffer(templateId: string, signal: AbortSignal): Promise<OfferedSourceTemplate>;
  listSources(signal: AbortSignal): Promise<SourceSummary[]>;
  getSource(id: string, signal: AbortSignal): Promise<Source>;
  createSource(request: CreateSourceRequest, signal: AbortSignal): Promise<Source>;
  updateSource(id: string, request: UpdateSourceRequest, signal: AbortSignal): Promise<Source>;
  deleteSource(id: string, signal: AbortSignal): Promise<void>;
  /** Both return the id of the check, with which its outcome is asked for. */
  checkNew(request: CheckSourceRequest, signal: AbortSignal): Promise<string>;
  checkExisting(sourceId: string, request: RecheckSourceRequest, signal: AbortSignal): Promise<string>;
  getCheck(id: string, signal: AbortSignal): Promise<Check>;
  listConnections(signal: AbortSignal): Promise<Connection[]>;
  startSync(connectionId: string, signal: AbortSignal): Promise<Job>;
  cancelSync(connectionId: string, signal: AbortSignal): Promise<Job>;
  /** All that the customer can choose from. */
  listStreams(connectionId: string, signal: AbortSignal): Promise<ConnectionStream[]>;
  chooseForConnection(
    connectionId: string,
    request: ChooseForConnectionRequest,
    signal: AbortSignal,
  ): Promise<Connection>;
  listJobs(connectionId: string, page: { limit: number; offset: number }, signal: AbortSignal): Promise<Job[]>;
}

export interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  timeoutMs?: number;
  signal: AbortSignal;
}

/** `isView`: the service would refuse every write, so none is sent. */
export function createApi(session: Session, baseUrl: string, isView = false): Api {
  async function call<T>(request: Call): Promise<T> {
    const { signal, method = 'GET' } = request;
    if (isView && method !== 'GET') throw new RequestFailure('only_view');
    let token = session.token() ?? (await session.renewed(undefined, signal));
    let response = await send(request, token);
    if (response.status === 401) {
      token = await session.renewed(token, signal);
      response = await send(request, token);
    }
    if (!response.ok) throw await readFailure(response);
    return await withinReach(signal, async () => (await response.json()) as T);
  }

  async function send({ method = 'GET', path, body, signal, ...limits }: Call, token: string): Promise<Response> {
    const deadline = AbortSignal.timeout(limits.timeoutMs ?? timeoutMs);
    return await withinReach(signal, () =>
      fetch(new URL(`api/v1/embedded/${path}`, baseUrl), {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        credentials: 'omit',
        cache: 'no-store',
        signal: AbortSignal.any([signal, deadline]),
      }),
    );
  }

  const list = async <T>(path: string, signal: AbortSignal) => (await call<{ data: T[] }>({ path, signal })).data;
  const startCheck = async (path: string, body: unknown, signal: AbortSignal) =>
    (await call<{ id: string }>({ method: 'POST', path, body, signal })).id;

  return {
    request: call,
    listOffers: (signal) => list('source-templates', signal),
    getOffer: (id, signal) => call({ path: `source-templates/${id}`, signal }),
    listSources: (signal) => list('sources', signal),
    getSource: (id, signal) => call({ path: `sources/${id}`, signal }),
    createSource: (body, signal) => call({ method: 'POST', path: 'sources', body, signal }),
    updateSource: (id, body, signal) => call({ method: 'PUT', path: `sources/${id}`, body, signal }),
    deleteSource: (id, signal) =>
      call({ method: 'DELETE', path: `sources/${id}`, timeoutMs: deletionTimeoutMs, signal }),
    checkNew: (body, signal) => startCheck('sources/check', body, signal),
    checkExisting: (id, body, signal) => startCheck(`sources/${id}/check`, body, signal),
    getCheck: (id, signal) => call({ path: `sources/check/${id}/status`, signal }),
    listConnections: (signal) => list('connections', signal),
    startSync: (id, signal) => call({ method: 'POST', path: `connections/${id}/sync`, signal }),
    cancelSync: (id, signal) => call({ method: 'POST', path: `connections/${id}/cancel`, signal }),
    async listStreams(id, signal) {
      const found: ConnectionStream[] = [];
      for (;;) {
        const path = `connections/${id}/streams?offset=${found.length}`;
        const { data, total } = await call<{ data: ConnectionStream[]; total: number }>({ path, signal });
        found.push(...data);
        if (data.length === 0 || found.length >= total) return found;
      }
    },
    chooseForConnection: (id, body, signal) => call({ method: 'PATCH', path: `connections/${id}`, body, signal }),
    listJobs: (id, { limit, offset }, signal) => list(`connections/${id}/jobs?limit=${limit}&offset=${offset}`, signal),
  };
}

/** A caller that aborts gets its own reason. Without an answer, every other case is one of two failures. */
async function withinReach<T>(signal: AbortSignal, receive: () => Promise<T>): Promise<T> {
  try {
    return await receive();
  } catch (cause) {
    signal.throwIfAborted();
    throw new RequestFailure(globalThis.navigator?.onLine === false ? 'offline' : 'unreachable', { cause });
  }
}
