/** What is inside a workspace, in the words of the hosted platform's public API. */
import { isObject } from '@inlay/contract/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/definitions';
import type { Runtime } from '../runtime.ts';
import { type Call, readable } from './calls.ts';
import { failureOf } from './foreign-errors.ts';
import { pageSize, readPages } from './paging.ts';
import {
  type CheckOutcome,
  type ConnectorKind,
  type JobStatus,
  jobStatuses,
  type NewPlatformConnector,
  type PipelinesPort,
  type PlatformConnection,
  type PlatformDefinition,
  type PlatformJob,
  type PlatformStream,
  type Written,
} from './pipelines-port.ts';
import { PlatformError } from './platform-port.ts';
import type { PlatformAnswer } from './transport.ts';

const checkPollMs = 250;
const checkPatienceMs = 300_000;
const maxWords = 2_000;
const checkNameOf = (checkId: string) => `inlay check ${checkId}`;

export function createPipelinesClient(call: Call, runtime: Runtime): PipelinesPort {
  async function listOf(operation: string, path: string, query: Record<string, string>): Promise<Item[]> {
    const answer = await call(operation, 'read', { method: 'GET', path: `${path}?${new URLSearchParams(query)}` });
    const { data } = readable(answer) as { data?: unknown };
    if (!Array.isArray(data)) throw new PlatformError('unavailable', 'the platform sent no list');
    return data.filter((item) => typeof item === 'object' && item !== null);
  }

  /** All of a workspace's, each id once: pages may overlap. */
  async function allOf(operation: string, path: string, idField: string, workspaceId: string): Promise<Item[]> {
    const found = new Map<string, Item>();
    const fetchPage = (offset: number) =>
      listOf(operation, path, { workspaceIds: workspaceId, limit: String(pageSize), offset: String(offset) });
    for await (const items of readPages(fetchPage)) {
      for (const item of items) {
        const id = item[idField];
        if (typeof id === 'string' && item.workspaceId === workspaceId) found.set(id, item);
      }
    }
    return [...found.values()];
  }

  const connectorsOf = (kind: ConnectorKind, workspaceId: string) =>
    allOf(`list_${kind}s`, `/${kind}s`, `${kind}Id`, workspaceId);

  async function createConnector(kind: ConnectorKind, connector: NewPlatformConnector): Promise<string> {
    const answer = await call(`create_${kind}`, 'create', { method: 'POST', path: `/${kind}s`, body: connector });
    return idOf(readable(answer, 'unknown'), `${kind}Id`);
  }

  async function deleteConnector(kind: ConnectorKind, id: string): Promise<void> {
    await unlessGone(call(`delete_${kind}`, 'write', { method: 'DELETE', path: `/${kind}s/${id}` }));
  }

  type Unnamed = Omit<NewPlatformConnector, 'name'>;

  /** The bundled platform checks without making anything. Undefined where there is no such thing. */
  async function checkDirectly(connector: Unnamed): Promise<CheckOutcome | undefined> {
    const path = '/sources/check_connection';
    const started = await call('check_source', 'probe', { method: 'POST', path, body: connector });
    if (started.status === 429 || started.status >= 500) throw unavailable(started);
    if (started.status >= 300) return undefined;
    const { checkId } = readable(started) as { checkId?: unknown };
    const deadline = runtime.elapsed() + checkPatienceMs;
    while (runtime.elapsed() < deadline) {
      const answer = await call('check_source', 'read', { method: 'GET', path: `${path}/${checkId}` });
      const { status, message } = readable(answer) as { status?: unknown; message?: unknown };
      if (status === 'succeeded') return { status, leftSource: false };
      if (status === 'failed') return { status, message: wordsOr(message), leftSource: false };
      await runtime.sleep(checkPollMs);
    }
    return { status: 'failed', message: 'The check took too long and was given up.', leftSource: false };
  }

  /**
   * A hosted platform has no check in its public API, but it runs the connector to list a source's streams. So a source
   * is made for the purpose and taken away again.
   */
  async function checkByListing(checkId: string, connector: Unnamed): Promise<CheckOutcome> {
    const sourceId = await createConnector('source', { ...connector, name: checkNameOf(checkId) });
    let answer: PlatformAnswer;
    let leftSource = true;
    try {
      const path = `/streams?${new URLSearchParams({ sourceId, ignoreCache: 'true' })}`;
      answer = await call('check_source', 'slow_probe', { method: 'GET', path });
    } finally {
      leftSource = !(await isDeleted(sourceId));
    }
    if (answer.status < 300) return { status: 'succeeded', leftSource };
    // Whatever stands before the platform has words of its own, and none about the configuration.
    const message = reasonIn(answer);
    if (message === undefined) throw unavailable(answer);
    return { status: 'failed', message, leftSource };
  }

  /** That the source cannot be deleted now says nothing about the check; the caller deletes it later. */
  async function isDeleted(sourceId: string): Promise<boolean> {
    try {
      await deleteConnector('source', sourceId);
      return true;
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      return false;
    }
  }

  return {
    async listDefinitions(kind) {
      const items = await listOf('list_definitions', '/connector_definitions', { type: kind });
      return items.map(readDefinition);
    },
    createConnector,
    deleteConnector,
    async findConnector(kind, workspaceId, nameEnd) {
      const found = (await connectorsOf(kind, workspaceId)).find(
        ({ name }) => typeof name === 'string' && name.endsWith(nameEnd),
      );
      return found && idOf(found, `${kind}Id`);
    },
    async replaceConnector(kind, id, body) {
      return await call(`replace_${kind}`, 'write', { method: 'PUT', path: `/${kind}s/${id}`, body });
    },
    async listStreams(sourceId, destinationId) {
      const path = `/streams?${new URLSearchParams({ sourceId, destinationId })}`;
      // A connector that fails is no failure of the platform: one customer's must not have it taken for broken.
      const answer = await call('list_streams', 'slow_probe', { method: 'GET', path });
      const failure = failureOf(answer, 'unavailable', runtime.now());
      if (failure) throw withReason(failure, answer);
      const streams = readable(answer);
      if (!Array.isArray(streams)) throw new PlatformError('unavailable', 'the platform sent no list of streams');
      return streams.flatMap(readStream);
    },
    checkSource: async (checkId, connector) =>
      (await checkDirectly(connector)) ?? (await checkByListing(checkId, connector)),
    async removeCheckSource(workspaceId, checkId) {
      const name = checkNameOf(checkId);
      for (const source of await connectorsOf('source', workspaceId)) {
        if (source.name === name) await deleteConnector('source', idOf(source, 'sourceId'));
      }
    },
    async listConnections(workspaceId) {
      const items = await allOf('list_connections', '/connections', 'connectionId', workspaceId);
      return items.map(readConnection).filter(({ status }) => status !== 'deprecated');
    },
    async createConnection({ streams, cronExpression, namespaceFormat, schemaChanges, ...rest }) {
      const body = {
        ...rest,
        schedule: cronExpression === null ? { scheduleType: 'manual' } : { scheduleType: 'cron', cronExpression },
        configurations: { streams },
        ...(namespaceFormat === ''
          ? { namespaceDefinition: 'destination' }
          : { namespaceDefinition: 'custom_format', namespaceFormat }),
        nonBreakingSchemaUpdatesBehavior: schemaChanges,
      };
      const answer = await call('create_connection', 'slow_create', { method: 'POST', path: '/connections', body });
      return idOf(readable(answer, 'unknown'), 'connectionId');
    },
    async setConnectionStatus(connectionId, status) {
      const path = `/connections/${connectionId}`;
      return await unlessGone(call('set_connection_status', 'write', { method: 'PATCH', path, body: { status } }));
    },
    async startSync(connectionId) {
      try {
        const body = { connectionId, jobType: 'sync' };
        return readJob(readable(await call('start_sync', 'create', { method: 'POST', path: '/jobs', body })) as Item);
      } catch (error) {
        if (error instanceof PlatformError && error.isConflict) return undefined;
        throw error;
      }
    },
    async listJobs(connectionId, { limit, offset }) {
      const query = { connectionId, orderBy: 'createdAt|DESC', limit: String(limit), offset: String(offset) };
      return (await listOf('list_jobs', '/jobs', query)).map(readJob);
    },
  };
}

/** What is gone needs no change, and nothing can still change it. */
export async function unlessGone(work: Promise<Written>): Promise<Written> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PlatformError && error.failure === 'not_found') return { settled: true };
    throw error;
  }
}

type Item = Record<string, unknown>;

function idOf(item: object, field: string): string {
  const id = (item as Item)[field];
  if (typeof id !== 'string') throw new PlatformError('unknown', `the answer has no ${field}`);
  return id;
}

function readDefinition(item: Item): PlatformDefinition {
  const { specification } = item as { specification?: { connectionSpecification?: unknown } };
  return {
    id: idOf(item, 'id').toLowerCase(),
    name: String(item.name),
    version: textOrNull(item.version),
    dockerRepository: textOrNull(item.dockerRepository),
    iconUrl: textOrNull(item.iconUrl),
    documentation: textOrNull(item.documentation),
    custom: item.custom === true,
    specification: isObject(specification?.connectionSpecification)
      ? (specification as ConnectorSpecification)
      : undefined,
  };
}

function readConnection(item: Item): PlatformConnection {
  return {
    id: String(item.connectionId),
    sourceId: String(item.sourceId),
    destinationId: String(item.destinationId),
    status: String(item.status),
  };
}

function readStream(item: Item): PlatformStream[] {
  const { streamName, streamnamespace, syncModes, defaultCursorField, sourceDefinedPrimaryKey } = item;
  if (typeof streamName !== 'string') return [];
  return [
    {
      name: streamName,
      ...(typeof streamnamespace === 'string' && streamnamespace !== '' ? { namespace: streamnamespace } : {}),
      syncModes: listOrNone<string>(syncModes),
      defaultCursorField: listOrNone<string>(defaultCursorField),
      sourceDefinedCursor: item.sourceDefinedCursorField === true,
      sourceDefinedPrimaryKey: listOrNone<string[]>(sourceDefinedPrimaryKey),
    },
  ];
}

function readJob(item: Item): PlatformJob {
  const { jobId, status, startTime, lastUpdatedAt, rowsSynced, bytesSynced, failureReason } = item;
  const known = jobStatuses.includes(status as JobStatus) ? (status as JobStatus) : 'pending';
  const isOver = known === 'succeeded' || known === 'failed' || known === 'cancelled';
  const message = (failureReason as { message?: unknown } | undefined)?.message;
  return {
    id: String(jobId),
    status: known,
    startedAt: String(startTime),
    endedAt: isOver && typeof lastUpdatedAt === 'string' ? lastUpdatedAt : null,
    rows: typeof rowsSynced === 'number' ? rowsSynced : null,
    bytes: typeof bytesSynced === 'number' ? bytesSynced : null,
    error: typeof message === 'string' ? message : null,
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function listOrNone<T>(value: unknown): T[] {
  return Array.isArray(value) ? value : [];
}

function unavailable({ status }: { status: number }): PlatformError {
  return new PlatformError('unavailable', `the platform answered ${status}`);
}

function withReason(failure: PlatformError, answer: PlatformAnswer): PlatformError {
  const reason = reasonIn(answer);
  return reason === undefined ? failure : new PlatformError(failure.failure, failure.message, { reason });
}

/** What the connector said, where the platform passes that on. */
function reasonIn({ status, text }: PlatformAnswer): string | undefined {
  const problem = status === 500 ? (tryParse(text) as { data?: { message?: unknown } } | undefined) : undefined;
  return typeof problem?.data?.message === 'string' ? wordsOr(problem.data.message) : undefined;
}

function wordsOr(message: unknown): string {
  if (typeof message !== 'string' || message === '') return 'The connector did not accept the configuration.';
  return message.slice(0, maxWords);
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // A proxy's page: it has no words for us.
  }
}
