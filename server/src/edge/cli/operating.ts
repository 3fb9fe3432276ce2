/** The daily commands: how all customers do, and why something fails. On the store, they need no running service. */
import { request } from 'node:http';
import type { Deployment } from '@inlay/contract/log/service-health';
import type { HealthState } from '@inlay/contract/pipelines/health';
import type {
  JobLog,
  ListAllWorkspacesQuery,
  OperatorJob,
  OperatorWorkspace,
} from '@inlay/contract/pipelines/operating';
import type { HealthCounts, SyncPeriod } from '@inlay/contract/pipelines/overview';
import { readConfig } from '../../kernel/config/config.ts';
import { decodePlace, decodePosition } from '../../kernel/db/list-cursor.ts';
import { AppError, OperatorError } from '../../kernel/errors.ts';
import type { PlatformPort } from '../../kernel/platform/platform-port.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { version as ownVersion } from '../../kernel/version.ts';
import { readOverview } from '../../operating/overview.ts';
import { listAllWorkspaces } from '../../operating/workspace-list.ts';
import { readJobLog } from '../../pipelines/jobs/job-logs.ts';
import { getJob, listAllJobs } from '../../pipelines/sources/lists.ts';
import { readDeployment } from '../deployment/service-health.ts';
import { exitWith, usageError } from './exit-codes.ts';
import { cursorOf, withInlay } from './inlay.ts';
import { type Cell, type Color, colored, grouped, harmless, plain, print, printJson, span, table } from './output.ts';

interface Common {
  organization?: string;
  json?: true;
}

export const showStatus = (options: Common & { exitCode?: true; limit: number }) =>
  withInlay(options, async ({ ask, now: readNow, api }) => {
    const { limit } = options;
    const query = { limit: Math.min(limit, maxPage), causes: 5 };
    const overview = await ask('GET /integrations/overview', { query }, ({ store, organizationId }) =>
      readOverview(store, organizationId, { unwell: limit, causes: query.causes }),
    );
    const { version, deployment } = await ask('GET /integrations/health', {}, async ({ store }) => ({
      version: ownVersion,
      deployment: await readDeployment({ store, config: readConfig(process.env).config }),
    }));
    const address = api ? { url: api.url, answers: true } : await serviceAddress();
    const { failing, needs_attention: needy } = overview.connections;
    if (options.exitCode && failing + needy > 0) exitWith('findings');
    if (options.json) return printJson({ service: address, version, deployment: briefly(deployment), ...overview });
    const now = await readNow();
    const { queue, unwell } = overview;
    const waiting = queue.oldest_waiting_since;
    const since = waiting === null ? '' : `, the oldest for ${span(now - Date.parse(waiting))}`;
    print(
      `Service      ${address.answers ? colored('responding', 'green') : colored('not responding', 'red')} at ${address.url}`,
      ...deploymentLines(version, deployment, now),
      `Workspaces   ${countsInWords(overview.workspaces)}`,
      `Connections  ${countsInWords(overview.connections)}`,
      `Syncs        ${queue.running} running, ${queue.waiting} waiting${since}`,
      `Last 24 h    ${lastDay(overview.hours)}`,
      `Action       ${overview.attention.customer} waiting on the customer, ${overview.attention.operator} waiting on you; ${overview.stale} overdue`,
    );
    if (unwell.length === 0) return;
    print('');
    table(
      [{ title: 'CUSTOMER', isCut: true }, 'HEALTH', 'FOR', 'FAILING', 'ACTION', { title: 'FIRST ERROR', isCut: true }],
      unwell.map((one) => [
        one.workspace_name,
        healthCell(one.health),
        span(now - Date.parse(one.since)),
        String(one.failing_connections),
        String(one.connections_that_need_attention),
        one.first_error?.message ?? '-',
      ]),
    );
    if (overview.more_unwell > 0) print(`${overview.more_unwell} more: inlay workspaces --health failing`);
    print('');
    table(
      ['CONNECTIONS', 'FOR', 'KIND', { title: 'CAUSE', isCut: true }],
      overview.causes.map((cause) => [
        String(cause.connections),
        cause.since === null ? '-' : span(now - Date.parse(cause.since)),
        inWords(cause.kind),
        cause.message ?? '-',
      ]),
    );
    print('', 'Failing jobs: inlay jobs --failing    Log of a job: inlay logs <job>');
  });

/** Settings and migrations are doctor's. Null for an organization that doesn't run the deployment. */
function briefly(deployment: Deployment | null) {
  if (!deployment) return null;
  const { replicas, versions, last_backup_at } = deployment;
  return { replicas, versions, last_backup_at };
}

function deploymentLines(version: string, deployment: Deployment | null, now: number): string[] {
  if (!deployment) return [`Version      ${version}`];
  const { replicas, versions, last_backup_at: backup } = deployment;
  const present = replicas.filter(({ is_present }) => is_present);
  const silent = replicas.length - present.length;
  // During an upgrade, or if one was forgotten.
  const others = [...new Set(present.map((replica) => replica.version))];
  const warnings = [
    ...(others.length > 1 ? [`versions ${others.join(' and ')}`] : []),
    ...(silent > 0 ? [`${silent} not responding`] : []),
  ];
  return [
    `Version      ${version}, ${versions.database}, Node.js ${versions.node}`,
    `Replicas     ${[`${present.length} running`, ...warnings.map((text) => colored(text, 'yellow'))].join(', ')}`,
    `Backup       ${backup === null ? 'none recorded' : `${span(now - Date.parse(backup))} ago`}`,
  ];
}

/** Whether a service listens where this configuration would have it listen. */
async function serviceAddress(): Promise<{ url: string; answers: boolean }> {
  const { config } = readConfig(process.env);
  const host = ['0.0.0.0', '::'].includes(config.host) ? '127.0.0.1' : config.host;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${config.port}`;
  const answers = await new Promise<boolean>((resolve) => {
    const asked = request(`${url}/health/live`, { timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.on('timeout', () => asked.destroy()).on('error', () => resolve(false));
    asked.on('close', () => resolve(false)).end();
  });
  return { url, answers };
}

function countsInWords(counts: HealthCounts): string {
  const all = Object.values(counts).reduce((sum, each) => sum + each, 0);
  const some = (Object.entries(counts) as [HealthState, number][]).filter(([, each]) => each > 0);
  const words = some.map(([state, each]) => colored(`${each} ${inWords(state)}`, colors[state]));
  return words.length === 0 ? 'none' : `${all}: ${words.join(', ')}`;
}

function lastDay(hours: readonly SyncPeriod[]): string {
  const sum = (field: 'succeeded' | 'failed' | 'rows') =>
    grouped(hours.slice(-24).reduce((total, hour) => total + hour[field], 0));
  return `${sum('succeeded')} succeeded, ${sum('failed')} failed, ${sum('rows')} rows`;
}

const inWords = (state: string) => state.replaceAll('_', ' ');
const colors: Partial<Record<string, Color>> = {
  healthy: 'green',
  succeeded: 'green',
  running: 'cyan',
  failing: 'red',
  failed: 'red',
  incomplete: 'red',
  needs_attention: 'yellow',
};
const healthCell = (state: string): Cell => ({ text: inWords(state), color: colors[state] });

interface Page extends Common {
  limit: number;
  cursor?: string;
}

/** No list of the API is longer, and here neither. */
const maxPage = 100;
const pageOf = ({ limit, cursor }: Page, decode: (cursor: string) => object | undefined = decodePosition) => {
  if (cursor !== undefined && !decode(cursor)) {
    throw usageError('Invalid --cursor. Copy it from the end of an earlier list.');
  }
  return { limit: Math.min(limit, maxPage), ...(cursor !== undefined && { cursor }) };
};
const printNext = (command: string, next: string | null) => {
  if (next !== null) print('', `More: inlay ${command} --cursor ${next}`);
};

type WorkspaceChoice = Pick<ListAllWorkspacesQuery, 'health' | 'status' | 'sort'> & { name?: string };

export const showWorkspaces = (options: Page & WorkspaceChoice) =>
  withInlay(options, async ({ ask, now: readNow }) => {
    const { health, status, sort, name } = options;
    const query = {
      ...pageOf(options, decodePlace),
      ...(health && { health }),
      ...(status && { status }),
      ...(sort && { sort }),
      ...(name && { name_contains: name }),
    };
    const page = await ask('GET /integrations/workspaces', { query }, ({ store, organizationId }) =>
      listAllWorkspaces({ store }, organizationId, query),
    );
    const { data, next } = { ...page, next: cursorOf(page.next) };
    if (options.json) return printJson({ data, next });
    const now = await readNow();
    if (data.length === 0) return print(health || status || name ? 'No matching workspaces.' : 'No workspaces yet.');
    table(
      [{ title: 'NAME', isCut: true }, 'HEALTH', 'FOR', 'UNHEALTHY', 'ID'],
      data.map((workspace) => [
        workspace.name,
        healthCell(shownHealth(workspace)),
        ...sinceAndBad(workspace, now),
        workspace.id,
      ]),
    );
    printNext(
      ['workspaces', health && `--health ${health}`, status && `--status ${status}`].filter(Boolean).join(' '),
      next,
    );
  });

const shownHealth = ({ status, health }: OperatorWorkspace) => (status === 'inactive' ? 'paused' : health.state);

/** Since when, and how many of its connections do not bring their data. */
function sinceAndBad({ health, connections }: OperatorWorkspace, now: number): [string, string] {
  const all = Object.values(connections).reduce((sum, each) => sum + each, 0);
  const bad = connections.failing + connections.needs_attention;
  return [health.since === null ? '-' : span(now - Date.parse(health.since)), `${bad}/${all}`];
}

export const showJobs = (options: Page & { failing?: true; status?: OperatorJob['status']; workspace?: string }) =>
  withInlay(options, async ({ ask, now: readNow }) => {
    const { failing, status, workspace } = options;
    const query = {
      ...pageOf(options),
      ...(failing && { failing: 'true' as const }),
      ...(status && { status }),
      ...(workspace && { workspace_id: workspace }),
    };
    const page = await ask('GET /integrations/jobs', { query }, ({ store, organizationId }) =>
      listAllJobs({ store }, organizationId, query),
    );
    const { data, next } = { ...page, next: cursorOf(page.next) };
    if (options.json) return printJson({ data, next });
    const now = await readNow();
    if (data.length === 0)
      return print(failing ? 'No failing jobs.' : status || workspace ? 'No matching jobs.' : 'No jobs yet.');
    table(
      ['JOB', 'STATUS', 'STARTED', 'TOOK', 'ROWS', { title: 'CUSTOMER', isCut: true }, { title: 'ERROR', isCut: true }],
      data.map((job) => [
        job.id,
        healthCell(job.status),
        `${span(now - Date.parse(job.started_at))} ago`,
        job.duration_seconds === null ? '-' : span(job.duration_seconds * 1000),
        job.rows === null ? '-' : String(job.rows),
        job.workspace_name,
        job.failure?.message ?? job.error ?? '-',
      ]),
    );
    const flags = [failing && '--failing', status && `--status ${status}`, workspace && `--workspace ${workspace}`];
    printNext(['jobs', ...flags].filter(Boolean).join(' '), next);
  });

interface LogOptions extends Common {
  attempt?: number;
  tail?: number;
  search?: string;
  follow?: true;
}

const followEveryMs = 1_000;
const pageBytes = 500_000;

export const showLog = (id: string, options: LogOptions) =>
  withInlay(options, async ({ ask }) => {
    let opened: (Pick<PlatformPort, 'readJobLog'> & { close(): Promise<void> }) | undefined;
    const platform: Pick<PlatformPort, 'readJobLog'> = {
      // Most of the time the store has the log, and the platform is much to load.
      async readJobLog(job, query) {
        opened ??= await (await import('./platform-logs.ts')).openPlatformLogs();
        return await opened.readJobLog(job, query);
      },
    };
    const { attempt, search, follow } = options;
    try {
      let place = { attempt: attempt ?? 0, offset: 0 };
      let { tail } = options;
      for (;;) {
        const job = await ask('GET /integrations/jobs/{job_id}', { ids: [id] }, ({ store, organizationId }) =>
          getJob({ store }, organizationId, id),
        );
        const query = {
          ...(attempt !== undefined && { attempt }),
          ...(search !== undefined && { search }),
          ...(tail === undefined ? { offset: place.offset } : { tail }),
          bytes: pageBytes,
        };
        const log = await ask(
          'GET /integrations/jobs/{job_id}/log',
          { ids: [id], query },
          async ({ store, organizationId }) =>
            readJobLog({ store, platform }, await getJob({ store }, organizationId, id), query),
        );
        if (log.attempt !== place.attempt && attempt === undefined && place.attempt !== 0) {
          // Another attempt has begun meanwhile: from its first line on.
          place = { attempt: log.attempt, offset: 0 };
          continue;
        }
        printLog(log, options);
        tail = undefined;
        place = { attempt: log.attempt, offset: log.next_offset ?? log.total_bytes };
        if (log.next_offset !== null) continue;
        if (log.attempt === 0 && !follow) throw new OperatorError(noLog(job.status));
        if (!follow || job.ended_at !== null) return;
        await systemRuntime.sleep(followEveryMs);
      }
    } catch (error) {
      throw error instanceof AppError ? inWordsOfLogs(error, id) : error;
    } finally {
      await opened?.close();
    }
  });

function printLog({ lines }: JobLog, { json }: LogOptions): void {
  for (const line of lines) {
    const { time, level, origin, message } = line;
    const color = /^(ERROR|FATAL)$/.test(level) ? 'red' : level === 'WARN' ? 'yellow' : undefined;
    // A message of several lines, such as a stack, stays one.
    const text = message.trimEnd().split(/\r?\n/).map(harmless).join('\n    ');
    print(json ? JSON.stringify(line) : `${time}  ${colored(level.padEnd(5), color)}  ${origin}  ${text}`);
  }
}

const noLog = (status: string) =>
  status === 'pending'
    ? 'The job has not started yet, so it has no log. Wait for it with --follow.'
    : 'No log found. The job may be too old, or the attempt does not exist.';

function inWordsOfLogs(error: AppError, id: string): Error {
  if (error.code === 'job_not_found') return new OperatorError(`Job ${plain(id)} not found. See: inlay jobs`);
  if (error.code === 'log_not_told')
    return new OperatorError('The platform provides no log for this job. Hosted platforms do not share logs.');
  if (error.code === 'platform_does_not_answer') {
    return new OperatorError('The platform, which stores the log, is not responding. Run: inlay doctor');
  }
  return error;
}
