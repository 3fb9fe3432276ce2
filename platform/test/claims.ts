/* Coordinators and waiting jobs, for tests that claim attempts and call desks themselves: no connector is started. */
import type { Catalog } from '@inlay/protocol/protocol';
import { sql } from 'kysely';
import type { AttemptRef, AttemptReport } from '../src/attempts/desk.ts';
import { claimAttempt, putBackAbandoned } from '../src/jobs/attempts-book.ts';
import type { JobsContext } from '../src/jobs/context.ts';
import { openDesk, type StoreDesk } from '../src/jobs/desk.ts';
import { systemRuntime } from '../src/runtime.ts';
import { type RunningPlatform, type StartOptions, startPlatform } from './start-platform.ts';

export const catalog: Catalog = {
  streams: ['items', 'notes'].map((name) => ({
    name,
    json_schema: { type: 'object', properties: { id: { type: 'integer' } } },
    supported_sync_modes: ['full_refresh', 'incremental'],
    source_defined_cursor: true,
    default_cursor_field: ['id'],
    source_defined_primary_key: [['id']],
  })),
};

export const stateOf = (name: string, next: number) => {
  const state = { type: 'STREAM' as const, stream: { stream_descriptor: { name }, stream_state: { next } } };
  return [state, JSON.stringify(state)] as const;
};

export const succeeded: AttemptReport = {
  status: 'ended',
  outcome: { status: 'succeeded', records: 7, bytes: 70, streams: [], moreStreams: 0, changedValues: {} },
  tokenEnded: false,
};

export interface Claims extends RunningPlatform {
  ctx: JobsContext;
  /** A second coordinator on the same store. */
  another(): Promise<JobsContext>;
  workspace(): Promise<string>;
  /** A connection whose destination accepts every stream; its id. */
  connect(workspaceId: string, more?: object): Promise<string>;
  sync(connectionId: string): Promise<number>;
  /** The next attempt of this owner, which must get one. */
  claim(owner: string, ctx?: JobsContext): Promise<AttemptRef & { connectionId: string; workspaceId: string }>;
  desk(ref: AttemptRef, owner: string, ctx?: JobsContext): Promise<StoreDesk>;
  /** As if the owners had not been heard of for so long. */
  silence(ms?: number): Promise<void>;
  /** Every row that a desk may write. */
  rows(): Promise<unknown>;
}

/** Nothing runs on its own. */
export async function startClaims(options: StartOptions = {}): Promise<Claims> {
  const running = await startPlatform({ runtime: systemRuntime, ...options });
  const { platform, call, file } = running;
  const { store } = platform;
  const ctx = platform.jobs;
  const create = async (path: string, body: object) => {
    const reply = await call('POST', path, body);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    return reply.body;
  };
  return {
    ...running,
    ctx,
    // Two connections to a file in one process would wait for each other without ever letting the other one go on.
    another: async () =>
      store.kind === 'sqlite'
        ? { ...ctx }
        : (await startPlatform({ runtime: systemRuntime, ...options, file })).platform.jobs,
    workspace: async () => (await create('/workspaces', { name: 'claims' })).workspaceId,
    async connect(workspaceId, more = {}) {
      const source = { name: 's', workspaceId, configuration: { sourceType: 'sample-data', count: 10 } };
      const destination = { name: 'd', workspaceId, configuration: { destinationType: 'local-files', path: 'out' } };
      const { sourceId } = await create('/sources', source);
      const { destinationId } = await create('/destinations', destination);
      return (await create('/connections', { sourceId, destinationId, ...more })).connectionId;
    },
    sync: async (connectionId) => (await create('/jobs', { connectionId, jobType: 'sync' })).jobId,
    async claim(owner, by = ctx) {
      const assignment = await claimAttempt(by, { owner, slots: 10 });
      if (!assignment) throw new Error(`nothing to claim for ${owner}`);
      return assignment;
    },
    desk: (ref, owner, by = ctx) => openDesk(by, ref, owner),
    async silence(ms = 60_000) {
      await store.db
        .updateTable('jobs')
        .set(({ eb }) => ({ lease_until: eb('lease_until', '-', ms) }))
        .execute();
      await putBackAbandoned(ctx);
    },
    rows: () =>
      store.transaction(async (tx) => {
        const tables = ['jobs', 'job_attempts', 'connections', 'connectors', 'workspaces', 'connection_streams'];
        const all: Record<string, unknown> = {};
        for (const table of [...tables, 'connection_states', 'connection_catalogs', 'discovered_catalogs']) {
          const { rows } = await sql`select * from ${sql.table(table)}`.execute(tx);
          all[table] = rows.map((row) => JSON.stringify(row)).sort();
        }
        return all;
      }),
  };
}
