/**
 * One schedule: a few replicas, a bad platform, clients that create, rename, (de)activate, delete and sync the same few
 * names at once, another user of the platform, crashes. Then a time without faults for the reconciler, and the oracle.
 */
import { AppError } from '../../src/kernel/errors.ts';
import { ensureWorkspace } from '../../src/tenancy/workspaces/creation.ts';
import { syncWorkspaces } from '../../src/tenancy/workspaces/sync.ts';
import { deleteWorkspace, updateWorkspace } from '../../src/tenancy/workspaces/workspaces.ts';
import { Crashed, Deployment, type Replica } from './deployment.ts';
import { HostedPlatform, type Weather } from './hosted-platform.ts';
import { type Deed, judge } from './oracle.ts';
import { World } from './world.ts';

export const organizationId = '11111111-1111-4111-8111-111111111111';
const otherOrganizationId = '22222222-2222-4222-8222-222222222222';
export const regionId = '645a183f-b12b-4c6e-8ad3-99e165603450';
const names = ['acme', 'Acme', 'beta', 'caf\u00e9', 'cafe\u0301'];

const settleMs = 30_000;
const stormMs = 60_000;
/** Longer than a settle window, a lease and the largest backoff, one after the other. */
const calmMs = 400_000;

export interface Outcome {
  violations: string[];
  creates: number;
  names: number;
  /** The time from the last fault until no work was left. */
  convergedAfterMs: number;
}

export interface Options {
  trace?: ((line: string) => void) | undefined;
  /** Another user gives workspaces our names, while our creates take effect late and lists are old. */
  namesakes?: boolean;
}

export async function runSchedule(seed: number, { trace, namesakes = false }: Options = {}): Promise<Outcome> {
  const world = new World(seed);
  const say = trace && ((line: string) => trace(`${String(world.now - world.startedAt).padStart(7)} ${line}`));
  const weather = weatherOf(world);
  if (namesakes) Object.assign(weather, { listLagMs: 5_000, lateApply: 0.2 });
  const platform = new HostedPlatform(world, weather, say);
  const deployment = await Deployment.open(world, platform);
  await deployment.db
    .insertInto('organizations')
    .values(
      [organizationId, otherOrganizationId].map((id) => ({
        id,
        name: id,
        platform_organization_id: id,
        created_at: 0,
      })),
    )
    .execute();

  const replicas: Replica[] = Array.from({ length: world.between(1, 3) }, () => deployment.start(settleMs));
  const deeds: Deed[] = [];
  const surprises: string[] = [];
  for (let i = world.between(0, 3); i > 0; i--) platform.create(organizationId, world.pick(names), false);
  // The same names in another organization.
  const foreign = names.slice(0, 2).map((name) => platform.create(otherOrganizationId, name, false).id);

  async function act(replica: Replica): Promise<void> {
    const { ctx } = replica;
    const known = [...new Set(deeds.filter((deed) => deed.id !== undefined).map((deed) => deed.id as string))];
    const kind =
      known.length === 0 ? 'ensure' : world.pick(['ensure', 'ensure', 'ensure', 'rename', 'status', 'delete', 'sync']);
    const deed: Deed = {
      kind: kind as Deed['kind'],
      startedAt: world.now,
      endedAt: Number.POSITIVE_INFINITY,
      ok: false,
    };
    deeds.push(deed);
    try {
      switch (kind) {
        case 'ensure': {
          const name = world.pick(names);
          deed.name = name;
          deed.id = (await ensureWorkspace(ctx, { organizationId, name, regionId })).id;
          if (world.chance(0.5)) await addConnection(deed.id);
          break;
        }
        case 'rename':
          deed.id = world.pick(known);
          deed.name = world.pick([...names, 'renamed']);
          await updateWorkspace(ctx, organizationId, deed.id, { name: deed.name });
          break;
        case 'status':
          deed.id = world.pick(known);
          deed.status = world.pick(['active', 'inactive'] as const);
          await updateWorkspace(ctx, organizationId, deed.id, { status: deed.status });
          break;
        case 'delete':
          deed.id = world.pick(known);
          await deleteWorkspace(ctx, organizationId, deed.id);
          break;
        case 'sync':
          await syncWorkspaces(ctx, organizationId);
      }
      deed.ok = true;
    } catch (error) {
      if (error instanceof AppError) deed.refusal = error.code;
      else if (!(error instanceof Crashed) && !replica.isDown) surprises.push(`${kind}: ${(error as Error).stack}`);
    }
    deed.endedAt = world.now;
    say?.(
      `${deed.ok ? 'ok' : (deed.refusal ?? 'crashed')}: ${kind} ${deed.id ?? ''} ${deed.name ?? deed.status ?? ''} (from ${deed.startedAt - world.startedAt})`,
    );
  }

  /** As the service would: in an inactive workspace a new connection starts disabled. */
  async function addConnection(workspaceId: string): Promise<void> {
    const row = await deployment.db
      .selectFrom('workspaces')
      .select('status')
      .where('id', '=', workspaceId)
      .executeTakeFirst();
    if (!platform.live().some(({ id }) => id === workspaceId)) return;
    const id = world.newId();
    platform.connections.set(id, { id, workspaceId, active: row?.status === 'active' });
  }

  async function client(): Promise<void> {
    while (world.now < world.startedAt + stormMs) {
      const up = replicas.filter((replica) => !replica.isDown);
      if (up.length > 0) await Promise.race([act(world.pick(up)), world.pause(40_000)]);
      await world.pause(world.between(0, 4_000));
    }
  }

  async function trouble(): Promise<void> {
    const often = world.between(3_000, 30_000);
    while (world.now < world.startedAt + stormMs) {
      await world.pause(world.between(100, often));
      const victim = world.between(0, replicas.length - 1);
      replicas[victim]?.crash();
      say?.(`replica ${victim} crashes`);
      await world.pause(world.between(10, 5_000));
      replicas[victim] = deployment.start(settleMs);
    }
  }

  async function somebodyElse(): Promise<void> {
    while (world.now < world.startedAt + stormMs) {
      await world.pause(world.between(1_000, namesakes ? 10_000 : 20_000));
      if (namesakes && world.chance(0.5)) {
        const { id, versions } = platform.create(organizationId, world.pick(names), false);
        say?.(`somebody else makes ${id} ${versions[0]?.name}`);
        continue;
      }
      const theirs = platform.live().filter(({ ours }) => !ours);
      const chosen = theirs.length > 0 ? world.pick(theirs) : undefined;
      if (!chosen || chosen.organizationId !== organizationId || world.chance(0.4)) {
        platform.create(organizationId, world.pick(['theirs', 'theirs too']), false);
      } else if (world.chance(0.5)) platform.change(chosen.id, { name: `theirs ${world.between(1, 3)}` });
      else platform.change(chosen.id, { deleted: true });
    }
  }

  const troubled = world.chance(0.7);
  for (let i = world.between(2, 6); i > 0; i--) void client();
  if (troubled) void trouble();
  if (world.chance(0.5) || namesakes) void somebodyElse();
  await world.run(world.startedAt + stormMs + 45_000);

  platform.calm = true;
  const calmAt = world.now;
  for (const [index, replica] of replicas.entries()) if (replica.isDown) replicas[index] = deployment.start(settleMs);
  let convergedAfterMs = calmMs;
  while (world.now < calmAt + calmMs) {
    await world.run(world.now + 5_000);
    const left = Promise.all([
      deployment.db.selectFrom('name_claims').select('name').where('state', '=', 'creating').execute(),
      deployment.db.selectFrom('operations').select('kind').execute(),
    ]);
    const [claims, operations] = await world.until(left);
    if (claims.length === 0 && operations.length === 0) {
      convergedAfterMs = world.now - calmAt;
      break;
    }
  }
  // All late requests have been applied by now; the reconciler gets one more pass over the result.
  await world.run(world.now + 60_000);

  const violations = [
    ...surprises,
    ...(await world.until(judge({ db: deployment.db, platform, deeds, organizationId, foreign }))),
  ];
  for (const replica of replicas) replica.crash();
  await world.until(deployment.close());
  return {
    violations,
    creates: [...platform.creates.values()].reduce((sum, count) => sum + count, 0),
    names: platform.creates.size,
    convergedAfterMs,
  };
}

export function weatherOf(world: World): Weather {
  const often = world.pick([0, 0.02, 0.1, 0.25]);
  const chance = () => (world.chance(0.5) ? often * world.random() : 0);
  return {
    refused: chance(),
    lostRequest: chance(),
    lostAnswer: chance(),
    lateApply: chance(),
    serverError: chance(),
    throttled: chance(),
    garbled: chance(),
    listLagMs: world.pick([0, 0, 1_000, 5_000]),
    lateMs: 20_000,
    slowMs: world.pick([5, 50, 500, 3_000]),
    honorsNameFilter: world.chance(0.5),
    shuffles: world.chance(0.5),
    offersInternalListing: world.chance(0.5),
  };
}
