/**
 * The service's API for the widget: every call uses the customer's token and the widget's own origin.
 *
 * Invariants: every call ends with an answer or a `RequestFailure`. A call is retried only once, and only if its token was
 * rejected, because nothing was done then. The caller can abort a call.
 */

import type { OfferedSourceTemplate, OfferedSourceTemplateList } from '@inlay/contract/catalog/source-templates';
import type {
  ChooseForConnectionRequest,
  Connection,
  ConnectionStream,
  Job,
} from '@inlay/contract/pipelines/connections';
import type {
  Check,
  CheckSourceRequest,
  CreateSourceRequest,
  RecheckSourceRequest,
  Source,
  SourceSummary,
  UpdateSourceRequest,
} from '@inlay/contract/pipelines/sources';
import type { AnswerTo, PartsOf, RouteFor } from '@inlay/contract/requests';
import { RequestFailure, readFailure } from './failure.ts';
import type { Session } from './session.ts';

const usualTimeoutMs = 30_000;
/** The service waits up to 25 s for the platform before it answers. */
const deletionTimeoutMs = 45_000;

export type Offer = OfferedSourceTemplateList['data'][number];

export interface Api {
  /** Any other call. */
  request: Request;
  listOffers(signal: AbortSignal): Promise<Offer[]>;
  getOffer(templateId: string, signal: AbortSignal): Promise<OfferedSourceTemplate>;
  listSources(signal: AbortSignal): Promise<SourceSummary[]>;
  getSource(id: string, signal: AbortSignal): Promise<Source>;
  createSource(request: CreateSourceRequest, signal: AbortSignal): Promise<Source>;
  updateSource(id: string, request: UpdateSourceRequest, signal: AbortSignal): Promise<Source>;
  deleteSource(id: string, signal: AbortSignal): Promise<unknown>;
  /** Both return the id of the check, to poll its outcome with `getCheck`. */
  checkNew(request: CheckSourceRequest, signal: AbortSignal): Promise<string>;
  checkExisting(sourceId: string, request: RecheckSourceRequest, signal: AbortSignal): Promise<string>;
  getCheck(id: string, signal: AbortSignal): Promise<Check>;
  listConnections(signal: AbortSignal): Promise<Connection[]>;
  startSync(connectionId: string, signal: AbortSignal): Promise<Job>;
  cancelSync(connectionId: string, signal: AbortSignal): Promise<Job>;
  /** Everything offered to the customer. */
  listStreams(connectionId: string, signal: AbortSignal): Promise<ConnectionStream[]>;
  chooseForConnection(
    connectionId: string,
    request: ChooseForConnectionRequest,
    signal: AbortSignal,
  ): Promise<Connection>;
  listJobs(connectionId: string, page: { limit: number; offset: number }, signal: AbortSignal): Promise<Job[]>;
}

type WidgetRoute = RouteFor<'scoped'>;
type CallParts<R extends WidgetRoute> = PartsOf<R> & { timeoutMs?: number; signal: AbortSignal };
type Request = <R extends WidgetRoute>(route: R, parts: CallParts<R>) => Promise<AnswerTo<R>>;

/** What a call is made of, whatever its route. */
interface Call {
  ids?: readonly (string | number)[] | undefined;
  query?: object | undefined;
  body?: unknown;
  timeoutMs?: number;
  signal: AbortSignal;
}

/** `isView`: the service would reject every write, so none is sent. */
export function createApi(session: Session, baseUrl: string, isView = false): Api {
  const call: Request = async (route, parts) => {
    const request: Call = parts;
    const { signal } = request;
    if (isView && !route.startsWith('GET')) throw new RequestFailure('only_view');
    let token = session.token() ?? (await session.renewed(undefined, signal));
    let response = await send(route, request, token);
    if (response.status === 401) {
      token = await session.renewed(token, signal);
      response = await send(route, request, token);
    }
    if (!response.ok) throw await readFailure(response);
    return await withinReach(signal, () => response.json());
  };

  async function send(
    route: WidgetRoute,
    { ids = [], query = {}, body, signal, timeoutMs = usualTimeoutMs }: Call,
    token: string,
  ): Promise<Response> {
    const deadline = AbortSignal.timeout(timeoutMs);
    const [method, path] = route.split(' ') as [string, string];
    const url = new URL(`api/v1${ids.reduce<string>((done, id) => done.replace(/{\w+}/, `${id}`), path)}`, baseUrl);
    // JSON omits undefined members.
    url.search = `${new URLSearchParams(JSON.parse(JSON.stringify(query)))}`;
    return await withinReach(signal, () =>
      fetch(url, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        body: JSON.stringify(body),
        credentials: 'omit',
        cache: 'no-store',
        signal: AbortSignal.any([signal, deadline]),
      }),
    );
  }

  const dataOf = async <T>(answer: Promise<{ data: T }>) => (await answer).data;
  const idOf = async (answer: Promise<{ id: string }>) => (await answer).id;

  return {
    request: call,
    listOffers: (signal) => dataOf(call('GET /embedded/source-templates', { signal })),
    getOffer: (id, signal) => call('GET /embedded/source-templates/{source_template_id}', { ids: [id], signal }),
    listSources: (signal) => dataOf(call('GET /embedded/sources', { signal })),
    getSource: (id, signal) => call('GET /embedded/sources/{source_id}', { ids: [id], signal }),
    createSource: (body, signal) => call('POST /embedded/sources', { body, signal }),
    updateSource: (id, body, signal) => call('PUT /embedded/sources/{source_id}', { ids: [id], body, signal }),
    deleteSource: (id, signal) =>
      call('DELETE /embedded/sources/{source_id}', { ids: [id], timeoutMs: deletionTimeoutMs, signal }),
    checkNew: (body, signal) => idOf(call('POST /embedded/sources/check', { body, signal })),
    checkExisting: (id, body, signal) =>
      idOf(call('POST /embedded/sources/{source_id}/check', { ids: [id], body, signal })),
    getCheck: (id, signal) => call('GET /embedded/sources/check/{check_id}/status', { ids: [id], signal }),
    listConnections: (signal) => dataOf(call('GET /embedded/connections', { signal })),
    startSync: (id, signal) => call('POST /embedded/connections/{connection_id}/sync', { ids: [id], signal }),
    cancelSync: (id, signal) => call('POST /embedded/connections/{connection_id}/cancel', { ids: [id], signal }),
    async listStreams(id, signal) {
      const found: ConnectionStream[] = [];
      for (;;) {
        const { data, total } = await call('GET /embedded/connections/{connection_id}/streams', {
          ids: [id],
          query: { offset: found.length },
          signal,
        });
        found.push(...data);
        if (data.length === 0 || found.length >= total) return found;
      }
    },
    chooseForConnection: (id, body, signal) =>
      call('PATCH /embedded/connections/{connection_id}', { ids: [id], body, signal }),
    listJobs: (id, query, signal) =>
      dataOf(call('GET /embedded/connections/{connection_id}/jobs', { ids: [id], query, signal })),
  };
}

/** Aborting callers get their own reason. Any other missing answer is one of two failures. */
async function withinReach<T>(signal: AbortSignal, receive: () => Promise<T>): Promise<T> {
  try {
    return await receive();
  } catch (cause) {
    signal.throwIfAborted();
    throw new RequestFailure(globalThis.navigator?.onLine === false ? 'offline' : 'unreachable', { cause });
  }
}
