/**
 * One schedule about quotas: a few replicas, clients that make and delete sources in the same two workspaces at once,
 * operators that change the limits of one workspace and of all, crashes. Triggers in the database write down every state
 * that a commit makes, so nothing depends on what the code under test believes.
 */
import { sql } from 'kysely';
import type { Definition } from '../../src/catalog/definitions/definition.ts';
import { createSourceTemplate } from '../../src/catalog/templates/source-template-drafts.ts';
import { createConnectionTemplate } from '../../src/changes/template-changes.ts';
import { AppError } from '../../src/kernel/errors.ts';
import { createSealer } from '../../src/kernel/sealing.ts';
import type { PipelinesContext } from '../../src/pipelines/context.ts';
import { createSource, deleteSource } from '../../src/pipelines/sources/sources.ts';
import { deleteWorkspaceQuotas, getUsage, putQuotas, putWorkspaceQuotas } from '../../src/tenancy/quotas/quotas.ts';
import { ensureWorkspace } from '../../src/tenancy/workspaces/creation.ts';
import { Crashed, Deployment, type Replica } from './deployment.ts';
import { HostedPlatform } from './hosted-platform.ts';
import { organizationId, regionId, weatherOf } from './schedule.ts';
import { World } from './world.ts';

const stormMs = 20_000;
const settleMs = 30_000;
const quotas = ['sources', 'connections'] as const;
type Counted = (typeof quotas)[number];
type Limits = Partial<Record<Counted, number | null>>;

export interface QuotaOutcome {
  violations: string[];
  made: number;
  refused: number;
}

/** One state of a workspace, from the commit that made it until the next. */
interface State {
  at: number;
  workspace_id: string;
  sources: number;
  connections: number;
  own: string | null;
  ofAll: string | null;
}

interface Refusal {
  workspaceId: string;
  quota: Counted;
  wanted: number;
  startedAt: number;
  endedAt: number;
}

export async function runQuotaSchedule(seed: number, trace?: (line: string) => void): Promise<QuotaOutcome> {
  const world = new World(seed);
  const say = trace && ((line: string) => trace(`${String(world.now - world.startedAt).padStart(7)} ${line}`));
  const platform = new HostedPlatform(world, weatherOf(world));
  platform.calm = true;
  const deployment = await Deployment.open(world, platform);
  const { db } = deployment;
  await db
    .insertInto('organizations')
    .values({ id: organizationId, name: 'ours', platform_organization_id: organizationId, created_at: 0 })
    .execute();
  const by = { organizationId, tokenId: world.newId(), tokenName: 'operator', permission: 'full' as const };
  await db
    .insertInto('operator_tokens')
    .values({
      ...{
        id: by.tokenId,
        organization_id: organizationId,
        name: 'operator',
        hash: '',
        permission: 'full',
        role: null,
      },
      ...{ created_at: 0, expires_at: null, last_used_at: null, revoked_at: null },
    })
    .execute();
  const replicas: Replica[] = Array.from({ length: world.between(1, 3) }, () => deployment.start(settleMs));
  const [first] = replicas as [Replica];
  const workspaceIds: string[] = [];
  const connectionsEach = world.between(0, 2);
  const sourceTemplate = await world.until(
    (async () => {
      for (const name of ['acme', 'beta']) {
        workspaceIds.push((await ensureWorkspace(first.ctx, { organizationId, name, regionId })).id);
      }
      const ctx = pipelinesOf(first);
      for (let number = 0; number < connectionsEach; number++) {
        const destination = { destination_name: `to ${number}`, destination_definition_id: definition.id };
        await createConnectionTemplate(ctx, by, { ...destination, destination_config: {}, skip_check: true });
      }
      return await createSourceTemplate(ctx.templates, by, { name: 'Shop', actor_definition_id: definition.id });
    })(),
  );
  await world.until(recordStates(db));
  platform.calm = false;

  const refusals: Refusal[] = [];
  const surprises: string[] = [];
  const sourceIds: { id: string; workspaceId: string }[] = [];
  let made = 0;

  async function create(replica: Replica, workspaceId: string): Promise<boolean> {
    const startedAt = world.now;
    try {
      const scope = { organizationId, workspaceId, audience: 'operator' } as const;
      const { id } = await createSource(pipelinesOf(replica), scope, { source_template_id: sourceTemplate.id });
      sourceIds.push({ id, workspaceId });
      made++;
      return true;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'quota_reached') throw error;
      const { quota } = error.facts as { quota: Counted };
      const wanted = quota === 'sources' ? 1 : connectionsEach;
      refusals.push({ workspaceId, quota, wanted, startedAt, endedAt: world.now });
      return false;
    }
  }

  const limits = (): Limits =>
    Object.fromEntries(
      quotas.filter(() => world.chance(0.7)).map((quota) => [quota, world.chance(0.2) ? null : world.between(0, 6)]),
    );

  async function act(replica: Replica): Promise<void> {
    const workspaceId = world.pick(workspaceIds);
    const kind = world.pick([
      'create',
      'create',
      'create',
      'create',
      'delete',
      'delete',
      'own',
      'all',
      'none',
    ] as const);
    try {
      if (kind === 'create') await create(replica, workspaceId);
      else if (kind === 'own') await putWorkspaceQuotas(replica.ctx, organizationId, workspaceId, limits());
      else if (kind === 'all') await putQuotas(replica.ctx, organizationId, limits());
      else if (kind === 'none') await deleteWorkspaceQuotas(replica.ctx, organizationId, workspaceId);
      else if (sourceIds.length > 0) {
        const source = world.pick(sourceIds);
        const scope = { organizationId, workspaceId: source.workspaceId, audience: 'operator' } as const;
        await deleteSource(pipelinesOf(replica), scope, source.id);
      }
      say?.(`ok: ${kind} ${workspaceId}`);
    } catch (error) {
      if (error instanceof AppError) say?.(`${error.code}: ${kind} ${workspaceId}`);
      else if (!(error instanceof Crashed) && !replica.isDown) surprises.push(`${kind}: ${(error as Error).stack}`);
    }
  }

  async function client(): Promise<void> {
    while (world.now < world.startedAt + stormMs) {
      const up = replicas.filter((replica) => !replica.isDown);
      if (up.length > 0) await Promise.race([act(world.pick(up)), world.pause(40_000)]);
      await world.pause(world.between(0, 400));
    }
  }

  async function trouble(): Promise<void> {
    while (world.now < world.startedAt + stormMs) {
      await world.pause(world.between(10, 3_000));
      const victim = world.between(0, replicas.length - 1);
      replicas[victim]?.crash();
      await world.pause(world.between(1, 500));
      replicas[victim] = deployment.start(settleMs);
    }
  }

  for (let i = world.between(2, 8); i > 0; i--) void client();
  if (world.chance(0.7)) void trouble();
  await world.run(world.startedAt + stormMs + 45_000);
  platform.calm = true;
  for (const replica of replicas) replica.crash();
  const last = deployment.start(settleMs);

  const violations = [...surprises];
  await world.until(fillUp());
  violations.push(...judge(await world.until(readStates(db)), refusals));
  last.crash();
  await world.until(deployment.close());
  return { violations, made, refused: refusals.length };

  /** Q3: what is shown is what there is, and exactly what is left can still be made. */
  async function fillUp(): Promise<void> {
    for (const workspaceId of workspaceIds) {
      const usage = await getUsage(last.ctx, organizationId, workspaceId);
      const state = (await readStates(db)).findLast(({ workspace_id }) => workspace_id === workspaceId);
      for (const quota of quotas) {
        const there = state?.[quota];
        if (usage[quota].used !== there) violations.push(`Q3: ${usage[quota].used} ${quota} are shown, not ${there}`);
      }
      await putWorkspaceQuotas(last.ctx, organizationId, workspaceId, {
        sources: usage.sources.used + 2,
        connections: null,
      });
      const outcomes = [];
      for (let number = 0; number < 3; number++) outcomes.push(await create(last, workspaceId));
      if (String(outcomes) !== 'true,true,false') violations.push(`Q3: with room for two: ${outcomes}`);
    }
  }
}

/** As if a connector were there that takes any configuration. Nothing of this schedule gets as far as the platform. */
const definition: Definition = {
  id: '33333333-3333-4333-8333-333333333333',
  kind: 'source',
  name: 'Anything',
  version: null,
  dockerRepository: null,
  icon: null,
  documentationUrl: null,
  documentation: null,
  supportLevel: null,
  custom: false,
  specification: { connectionSpecification: { type: 'object', properties: {} } },
  suggestedStreams: [],
};

const sealer = createSealer(Buffer.alloc(32));

function pipelinesOf({ ctx }: Replica): PipelinesContext {
  const unused = () => {
    throw new Error('not part of this schedule');
  };
  const { store, runtime, log, platform, journal } = ctx;
  return {
    ...{ store, runtime, log, platform, journal, sealer, settleMs, jobLogMs: 0, workspaces: ctx },
    templates: {
      ...{ store, runtime, journal, sealer, publicUrl: 'http://localhost' },
      definitions: { list: async (kind) => [{ ...definition, kind }] },
      signInClients: { find: unused },
      tokenOwner: { current: () => 'service' },
    },
    turns: { checks: unused as never, setUps: unused as never },
    metrics: ctx.metrics,
    // A source counts from the moment it is recorded.
    background: { run: () => {}, settle: async () => {} },
  };
}

async function recordStates(db: Deployment['db']): Promise<void> {
  await sql`create table states (seq integer primary key, at, workspace_id, sources, connections, own, of_all)`.execute(
    db,
  );
  const state = sql`
    insert into states (at, workspace_id, sources, connections, own, of_all)
    select now_ms(), workspaces.id,
      (select count(*) from sources where workspace_id = workspaces.id and lifecycle = 'live'),
      (select count(*) from connections join sources on sources.id = source_id
       where connections.workspace_id = workspaces.id and lifecycle = 'live' and connections.deleted_at is null),
      (select limits from quotas where id = workspaces.id),
      (select limits from quotas where id = workspaces.organization_id)
    from workspaces;`;
  for (const table of ['sources', 'connections', 'quotas']) {
    for (const change of ['insert', 'update', 'delete']) {
      const name = sql.raw(`states_${table}_${change}`);
      await sql`
        create trigger ${name} after ${sql.raw(change)} on ${sql.table(table)} begin ${state} end`.execute(db);
    }
  }
}

async function readStates(db: Deployment['db']): Promise<State[]> {
  const { rows } = await sql<State>`
    select at, workspace_id, sources, connections, own, of_all as "ofAll" from states order by seq`.execute(db);
  return rows;
}

function judge(states: readonly State[], refusals: readonly Refusal[]): string[] {
  const violations: string[] = [];
  const ofWorkspace = (id: string) => states.filter(({ workspace_id }) => workspace_id === id);

  // Q1: nothing is ever added beyond the limit that is in force at that moment.
  for (const workspaceId of new Set(states.map(({ workspace_id }) => workspace_id))) {
    const own = ofWorkspace(workspaceId);
    for (const [index, state] of own.entries()) {
      for (const quota of quotas) {
        const limit = limitIn(state, quota);
        const before = own[index - 1]?.[quota] ?? 0;
        if (limit !== null && state[quota] > before && state[quota] > limit)
          violations.push(`Q1: ${workspaceId} got ${state[quota]} ${quota}, and ${limit} are allowed`);
      }
    }
  }

  // Q2: nothing is refused for which there was room all the time.
  for (const { workspaceId, quota, wanted, startedAt, endedAt } of refusals) {
    const own = ofWorkspace(workspaceId);
    const wasFull = own.some((state, index) => {
      const until = own[index + 1]?.at ?? Number.POSITIVE_INFINITY;
      const limit = limitIn(state, quota);
      return state.at <= endedAt && until >= startedAt && limit !== null && state[quota] + wanted > limit;
    });
    if (!wasFull) violations.push(`Q2: ${workspaceId} was refused because of ${quota}, and there was room`);
  }
  return violations;
}

/** The workspace's own limit, null included, or that of all. */
function limitIn({ own, ofAll }: State, quota: Counted): number | null {
  const [ofWorkspace, ofOrganization] = [JSON.parse(own ?? '{}') as Limits, JSON.parse(ofAll ?? '{}') as Limits];
  return quota in ofWorkspace ? (ofWorkspace[quota] ?? null) : (ofOrganization[quota] ?? null);
}
