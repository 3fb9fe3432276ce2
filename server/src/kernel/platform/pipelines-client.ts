/** What is inside a workspace, in the words of the hosted platform's public API. */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { mapInPieces, readLongList } from '@inlay/schedule/pieces';
import type { Runtime } from '../runtime.ts';
import { type Call, readable } from './calls.ts';
import { bodyOf } from './connector-body.ts';
import { createDirectChecks, unavailable } from './direct-checks.ts';
import { failureOf } from './foreign-errors.ts';
import { pageSize, readPages } from './paging.ts';
import {
  type Item,
  idOf,
  readConnection,
  readDefinition,
  readJob,
  readJobLog,
  readStream,
  reasonIn,
  tryParse,
} from './pipelines-answers.ts';
import type {
  ConnectionChanges,
  ConnectorKind,
  NewPlatformConnector,
  NewPlatformDefinition,
  PipelinesPort,
  Written,
} from './pipelines-port.ts';
import { PlatformError } from './platform-port.ts';
import { checkNameOf, createSourceChecks } from './source-checks.ts';
import type { PlatformAnswer } from './transport.ts';

/** `ending`: nobody waits for connectors any more. */
export function createPipelinesClient(call: Call, runtime: Runtime, ending: AbortSignal): PipelinesPort {
  async function listOf(operation: string, path: string, query: Record<string, string>): Promise<Item[]> {
    const answer = await call(operation, 'read', { method: 'GET', path: `${path}?${new URLSearchParams(query)}` });
    const { data } = readable(answer) as { data?: unknown };
    if (!Array.isArray(data)) throw new PlatformError('unavailable', 'the platform returned no list');
    return data.filter((item) => typeof item === 'object' && item !== null);
  }

  /** All items of a workspace, each id once although pages may overlap. */
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
    const answer = await call(`create_${kind}`, 'create', {
      method: 'POST',
      path: `/${kind}s`,
      body: bodyOf(connector),
    });
    return idOf(readable(answer, 'unknown'), `${kind}Id`);
  }

  async function deleteConnector(kind: ConnectorKind, id: string): Promise<void> {
    await unlessGone(call(`delete_${kind}`, 'write', { method: 'DELETE', path: `/${kind}s/${id}` }));
  }

  /** Undefined: a hosted platform, which has no such path. */
  async function readCredentials(
    query = '',
  ): Promise<{ areResolved: boolean; outage: string | undefined } | undefined> {
    const answer = await call('read_credentials', 'probe', { method: 'GET', path: `/credentials${query}` });
    // A refused token reveals nothing about which platform this is.
    if ([401, 429].includes(answer.status) || answer.status >= 500) throw unavailable(answer);
    const told = answer.status < 300 ? tryParse(answer.text) : undefined;
    if (!isObject(told) || typeof told.areResolved !== 'boolean') return undefined;
    return { areResolved: told.areResolved, outage: typeof told.outage === 'string' ? told.outage : undefined };
  }

  async function resolvesCredentials(): Promise<boolean> {
    const told = await readCredentials();
    if (told?.areResolved === false) {
      throw new PlatformError('unavailable', 'the platform is too old to request tokens; update it');
    }
    return told !== undefined;
  }

  const manifestsPath = (workspaceId: string) => `/workspaces/${workspaceId}/definitions/declarative_sources`;

  async function manifestsOf(workspaceId: string): Promise<Item[]> {
    return await listOf('list_manifests', manifestsPath(workspaceId), {});
  }

  async function createManifest({ workspaceId, name, manifest }: NewPlatformDefinition): Promise<string> {
    const request = { method: 'POST', path: manifestsPath(workspaceId), body: { name, manifest } } as const;
    // A platform reads the whole manifest first, which may take a while.
    return idOf(readable(await call('create_manifest', 'slow_create', request), 'unknown'), 'id');
  }

  async function deleteManifest(workspaceId: string, id: string): Promise<void> {
    const path = `${manifestsPath(workspaceId)}/${id}`;
    await unlessGone(call('delete_manifest', 'write', { method: 'DELETE', path }));
  }

  return {
    async findManifest(workspaceId, nameEnd) {
      const found = (await manifestsOf(workspaceId)).find(
        ({ name }) => typeof name === 'string' && name.endsWith(nameEnd),
      );
      return found && idOf(found, 'id');
    },
    createManifest,
    async replaceManifest(workspaceId, id, manifest) {
      const path = `${manifestsPath(workspaceId)}/${id}`;
      return await call('replace_manifest', 'slow_write', { method: 'PUT', path, body: { manifest } });
    },
    deleteManifest,
    resolvesCredentials,
    testCredentials: async () => {
      const told = await readCredentials('?test=true');
      return told?.areResolved === false ? 'The platform is too old. Update it.' : told?.outage;
    },
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
      return await call(`replace_${kind}`, 'write', { method: 'PUT', path: `/${kind}s/${id}`, body: bodyOf(body) });
    },
    async changeConnector(kind, id, body) {
      return await call(`change_${kind}`, 'write', { method: 'PATCH', path: `/${kind}s/${id}`, body });
    },
    async listStreams(sourceId, destinationId, { fresh } = { fresh: false }) {
      const query = { sourceId, destinationId, ...(fresh && { ignoreCache: 'true' }) };
      const path = `/streams?${new URLSearchParams(query)}`;
      // A connector that fails is no failure of the platform: one customer's connector must not open the breaker.
      const answer = await call('list_streams', 'slow_probe', { method: 'GET', path });
      const failure = failureOf(answer, 'unavailable', runtime.now());
      if (failure) throw withReason(failure, answer);
      const streams = await readableList(answer);
      if (!Array.isArray(streams)) throw new PlatformError('unavailable', 'the platform returned no list of streams');
      return (await mapInPieces(streams, readStream)).flat();
    },
    ...createDirectChecks(call, runtime, ending),
    checkSource: createSourceChecks(call, runtime, ending, {
      createConnector,
      deleteConnector,
      createManifest,
      deleteManifest,
      resolvesCredentials,
    }),
    async removeCheckSource(workspaceId, checkId) {
      const name = checkNameOf(checkId);
      for (const source of await connectorsOf('source', workspaceId)) {
        if (source.name === name) await deleteConnector('source', idOf(source, 'sourceId'));
      }
      for (const definition of await manifestsOf(workspaceId)) {
        if (definition.name === name) await deleteManifest(workspaceId, idOf(definition, 'id'));
      }
    },
    async listConnections(workspaceId) {
      const items = await allOf('list_connections', '/connections', 'connectionId', workspaceId);
      return items.map(readConnection).filter(({ status }) => status !== 'deprecated');
    },
    async createConnection({ sourceId, destinationId, status, ...settings }) {
      const body = { sourceId, destinationId, status, ...inItsWords(settings) };
      const answer = await call('create_connection', 'slow_create', { method: 'POST', path: '/connections', body });
      return idOf(readable(answer, 'unknown'), 'connectionId');
    },
    async changeConnection(connectionId, changes) {
      const nature = changes.streams ? 'slow_write' : 'write';
      const path = `/connections/${connectionId}`;
      return await call('change_connection', nature, { method: 'PATCH', path, body: inItsWords(changes) });
    },
    async deleteConnection(connectionId) {
      const path = `/connections/${connectionId}`;
      await unlessGone(call('delete_connection', 'write', { method: 'DELETE', path }));
    },
    async setConnectionStatus(connectionId, status) {
      const path = `/connections/${connectionId}`;
      return await unlessGone(call('set_connection_status', 'write', { method: 'PATCH', path, body: { status } }));
    },
    async startSync(connectionId, { fromStart } = {}) {
      try {
        const anew = { jobType: 'refresh', streams: [{ name: fromStart }] };
        const body = { connectionId, ...(fromStart === undefined ? { jobType: 'sync' } : anew) };
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
    async *listChangedJobs(since) {
      const fetchPage = (offset: number) =>
        listOf('list_changed_jobs', '/jobs', {
          updatedAtStart: new Date(since).toISOString(),
          orderBy: 'updatedAt|ASC',
          limit: String(pageSize),
          offset: String(offset),
        });
      for await (const items of readPages(fetchPage)) yield items.map(readJob);
    },
    async cancelJob(id) {
      try {
        return readJob(readable(await call('cancel_job', 'write', { method: 'DELETE', path: `/jobs/${id}` })) as Item);
      } catch (error) {
        if (error instanceof PlatformError && error.isConflict) return undefined;
        throw error;
      }
    },
    async readJobLog(id, { first_error, ...query }) {
      const given = Object.entries({ ...query, ...(first_error && { firstError: 'true' }) }).map(
        ([name, value]): [string, string] => [name, String(value)],
      );
      const path = `/jobs/${id}/log?${new URLSearchParams(given)}`;
      try {
        return readJobLog(readable(await call('read_job_log', 'read', { method: 'GET', path })) as Item);
      } catch (error) {
        // A hosted platform has no such path.
        if (error instanceof PlatformError && error.failure === 'not_found') return undefined;
        throw error;
      }
    },
    async findJob(id) {
      try {
        return readJob(readable(await call('get_job', 'read', { method: 'GET', path: `/jobs/${id}` })) as Item);
      } catch (error) {
        if (error instanceof PlatformError && error.failure === 'not_found') return undefined;
        throw error;
      }
    },
  };
}

function inItsWords({ name, cronExpression, streams, namespaceFormat, prefix, schemaChanges }: ConnectionChanges) {
  return {
    ...(name !== undefined && { name }),
    ...(cronExpression !== undefined && {
      schedule: cronExpression === null ? { scheduleType: 'manual' } : { scheduleType: 'cron', cronExpression },
    }),
    ...(streams && { configurations: { streams } }),
    ...(namespaceFormat !== undefined &&
      (namespaceFormat === ''
        ? { namespaceDefinition: 'destination' }
        : { namespaceDefinition: 'custom_format', namespaceFormat })),
    ...(prefix !== undefined && { prefix }),
    ...(schemaChanges !== undefined && { nonBreakingSchemaUpdatesBehavior: schemaChanges }),
  };
}

/** A connector or connection that is gone needs no change, and no earlier request can change it either. */
export async function unlessGone(work: Promise<Written>): Promise<Written> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PlatformError && error.failure === 'not_found') return { settled: true };
    throw error;
  }
}

/** Long lists of the bundled platform are read in pieces. Whatever else a platform sends is read, or refused, at once. */
async function readableList(answer: PlatformAnswer): Promise<unknown> {
  return (await readLongList(answer.text).catch(() => undefined)) ?? readable(answer);
}

function withReason(failure: PlatformError, answer: PlatformAnswer): PlatformError {
  const reason = reasonIn(answer);
  return reason === undefined ? failure : new PlatformError(failure.failure, failure.message, { reason });
}
