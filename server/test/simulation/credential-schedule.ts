/**
 * One schedule about credentials: replicas that refresh tokens ahead of time and on demand, kills, pauses, and a network that
 * loses requests and answers. The provider rotates refresh tokens and ends a grant whose old token comes back, with or
 * without a grace period. It knows who sent which token when, and a trigger in the database writes down every generation
 * that a commit makes, so nothing depends on what the code under test believes.
 */
import { sql } from 'kysely';
import { pino } from 'pino';
import type { OAuthContext } from '../../src/credentials/context.ts';
import { accessTo, CredentialNeedsAttention, CredentialUnavailable } from '../../src/credentials/tokens/access.ts';
import { openTokens } from '../../src/credentials/tokens/credentials.ts';
import { createRefreshWorker } from '../../src/credentials/tokens/refresh.worker.ts';
import { Refreshes } from '../../src/credentials/tokens/refreshes.ts';
import { byWorker } from '../../src/kernel/cause.ts';
import type { CredentialRow } from '../../src/kernel/db/tables.ts';
import { createSealer } from '../../src/kernel/sealing.ts';
import { createJournal } from '../../src/log/events/journal.ts';
import { connect, makePlace, metrics, noUsers } from '../support/credentials.ts';
import { ModelProvider } from '../support/model-provider.ts';
import { Crashed, Deployment, type Machine } from './deployment.ts';
import { World } from './world.ts';

export interface CredentialOptions {
  replicas: number;
  credentials: number;
  stormMs: number;
}

export interface CredentialOutcome {
  violations: string[];
  sent: number;
  refreshed: number;
  /** Grants that the provider has ended, because a token came twice. */
  ended: number;
}

/** A refresh token on its way. */
interface Send {
  token: string;
  at: number;
  /** When nobody waits for its answer any more. */
  until: number;
  /** The provider has looked at it. */
  counts: boolean;
  /** The provider has answered that it failed, so the same token may be sent again. */
  isFailure: boolean;
}

interface Stored {
  id: string;
  generation: number;
  sealed_tokens: string;
  at: number;
}

const sealer = createSealer(Buffer.alloc(32, 7));
const timeoutMs = 20_000;
const small: CredentialOptions = { replicas: 4, credentials: 6, stormMs: 6 * 60_000 };

export async function runCredentialSchedule(
  seed: number,
  trace?: (line: string) => void,
  size: CredentialOptions = small,
): Promise<CredentialOutcome> {
  const world = new World(seed);
  const say = trace && ((line: string) => trace(`${String(world.now - world.startedAt).padStart(8)} ${line}`));
  const graceMs = world.chance(0.5) ? 0 : world.between(60_000, 600_000);
  const accessSeconds = world.between(60, 300);
  const provider = new ModelProvider({ now: () => world.now, graceMs, accessSeconds });
  const deployment = await Deployment.open(world);
  const violations: string[] = [];
  const sends: Send[] = [];
  const faulty = world.between(0, 40) / 100;
  const stallChance = world.pick([0, 0.001, 0.005]);
  let calm = true;

  /** Sends at once; the outcome takes time. A killed process gets no answer, but the provider may get the request. */
  async function request(machine: Machine, url: string, form: Parameters<ModelProvider['answer']>[1]) {
    machine.check();
    const token = new URLSearchParams(form.body).get('refresh_token') ?? '';
    const fate = calm || !world.chance(faulty) ? 'ok' : world.pick(fates);
    if (fate === 'refused') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const send: Send = {
      token,
      at: world.now,
      until: Number.POSITIVE_INFINITY,
      counts: fate !== 'busy',
      isFailure: isFailure(fate),
    };
    for (const other of sends) {
      if (other.token === token && other.until > world.now && other.counts && send.counts) {
        violations.push(`C1: ${token} is sent at ${at(send.at)} although it is on its way since ${at(other.at)}`);
      }
    }
    sends.push(send);
    say?.(`${fate}: ${token}`);
    const takesMs = fate === 'slow' ? world.between(15_000, 40_000) : world.between(5, 1_500);
    const arrivesMs = Math.min(takesMs / 2, timeoutMs);
    send.until = world.now + Math.min(takesMs, timeoutMs);
    await world.pause(arrivesMs);
    // A request that takes too long was given up, but the provider has had it all the same.
    const isDone = fate !== 'lost request' && fate !== 'busy' && fate !== 'failed';
    const answer = isDone ? provider.answer(url, form) : undefined;
    await world.pause(Math.min(takesMs, timeoutMs) - arrivesMs);
    await machine.resume();
    if (takesMs > timeoutMs || fate === 'lost request' || fate === 'lost answer') throw new Error('the answer is lost');
    if (fate === 'busy') return { status: 429, contentType: '', body: '{}' };
    return answer ?? { status: 502, contentType: '', body: '' };
  }

  function start() {
    const machine = deployment.machine(calm ? 0 : stallChance);
    const { store, runtime } = machine;
    const ctx: OAuthContext = {
      ...{ store, runtime, sealer, log: pino({ level: 'silent' }), publicUrl: 'https://inlay.example' },
      journal: createJournal({ runtime, cause: byWorker }),
      network: { request: (url, form) => request(machine, url, form), addressFault: () => undefined },
      refreshes: new Refreshes(runtime),
      metrics,
      definitions: { list: async () => [] },
      users: noUsers,
      tokenOwner: { isService: async () => true, current: () => 'service' },
    };
    createRefreshWorker(ctx).start();
    return { ctx, machine };
  }

  const replicas = Array.from({ length: size.replicas }, start);
  const [first] = replicas as [(typeof replicas)[0]];
  const refs = await world.until(
    (async () => {
      await recordGenerations(deployment.db);
      const place = await makePlace(first.ctx);
      const made = [];
      for (let i = 0; i < size.credentials; i++) made.push(await connect(first.ctx, place, provider.signIn(`${i}`)));
      return made;
    })(),
  );
  calm = false;
  for (const [index, { machine }] of replicas.entries()) {
    machine.crash();
    replicas[index] = start();
  }
  const stormEnd = world.now + size.stormMs;

  async function client(): Promise<void> {
    while (world.now < stormEnd) {
      const replica = world.pick(replicas);
      const ref = world.pick(refs);
      const wanted = world.chance(0.05) ? { notGeneration: world.between(1, 5) } : {};
      await Promise.race([accessTo(replica.ctx, ref, wanted), world.pause(120_000)]).catch(surprise);
      await world.pause(world.between(0, 20_000));
    }
  }
  function surprise(error: unknown): void {
    const isExpected = [CredentialNeedsAttention, CredentialUnavailable, Crashed].some((kind) => error instanceof kind);
    if (!isExpected) violations.push(`C0: ${(error as Error).stack}`);
  }

  async function trouble(): Promise<void> {
    while (world.now < stormEnd) {
      await world.pause(world.between(1, Math.max(2_000, 300_000 / size.replicas)));
      const victim = world.between(0, replicas.length - 1);
      if (world.chance(0.5)) {
        replicas[victim]?.machine.pause(world.between(1_000, 150_000));
        continue;
      }
      replicas[victim]?.machine.crash();
      replicas[victim] = start();
    }
  }

  for (let i = 0; i < Math.max(3, size.replicas / 2); i++) void client();
  for (let i = world.between(0, 3); i > 0; i--) void trouble();
  await world.run(stormEnd + 150_000);
  calm = true;
  for (const { machine } of replicas) machine.crash();
  const last = start();
  // Everything that was wrong for a while is over by the end, and backoffs are, too.
  const calmEnd = world.now + 40 * 60_000;
  do await world.run(world.now + 2 * 60_000);
  while (world.now < calmEnd && !(await world.until(isSettled())));
  for (const ref of refs) await world.until(accessTo(last.ctx, ref).catch(surprise));
  last.machine.crash();
  const rows = await world.until(deployment.db.selectFrom('credentials').selectAll().execute());
  const stored = await world.until(readGenerations(deployment.db));
  violations.push(...judge(provider, sends, stored, rows));
  await world.until(deployment.close());
  return {
    violations,
    sent: sends.length,
    refreshed: stored.length - refs.length,
    ended: provider.grants.filter(({ ended }) => ended !== undefined).length,
  };

  /** Every credential has got tokens since the last trouble, or someone has to do something. */
  async function isSettled(): Promise<boolean> {
    const rows = await deployment.db.selectFrom('credentials').selectAll().execute();
    return rows.every(({ state, failures, tries }) => state !== 'connected' || (failures === 0 && tries === 0));
  }

  function at(ms: number): string {
    return `${ms - world.startedAt}`;
  }

  function judge(model: ModelProvider, all: readonly Send[], generations: readonly Stored[], ends: CredentialRow[]) {
    const found: string[] = [];
    const replacedAt = new Map<string, number>();
    const before = new Map<string, string>();
    for (const { id, sealed_tokens, at: when } of generations) {
      const token = openTokens(sealer, { id, sealed_tokens })?.refreshToken ?? '';
      const old = before.get(id);
      if (old !== undefined && old !== token && !replacedAt.has(old)) replacedAt.set(old, when);
      before.set(id, token);
    }
    const times = new Map<string, number>();
    for (const { token, at: when, counts, isFailure } of all) {
      if (!counts) continue;
      if (!isFailure) times.set(token, (times.get(token) ?? 0) + 1);
      const replaced = replacedAt.get(token);
      if (replaced !== undefined && when > replaced) {
        found.push(`C2: ${token} is sent at ${at(when)} although its successor was stored at ${at(replaced)}`);
      }
    }
    for (const [token, count] of times) if (count > 2) found.push(`C3: ${token} was sent ${count} times`);
    for (const row of ends) {
      const token = openTokens(sealer, row)?.refreshToken ?? '';
      const grant = model.grantOf(token);
      const isOver = grant?.ended !== undefined;
      // After two answers that nobody got, nobody can know.
      const isUnknown = row.reason === 'uncertain' && row.tries >= 2;
      if (row.state === 'needs_attention' && !isOver && !isUnknown) {
        found.push(`C4: ${row.id} needs attention (${row.reason}), but the provider has not ended its grant`);
      }
      const isSettled = row.lease_id === null;
      if (row.state === 'connected' && isSettled && (isOver || grant?.current !== token)) {
        found.push(`C5: ${row.id} is said to be connected, but its token is not good`);
      }
    }
    return found;
  }
}

/** A killed process's response stays unknown; that leaves fewer tries, not more. */
const isFailure = (fate: string) => fate === 'failed' || fate === 'failed after';

const fates = [
  'lost request',
  'lost answer',
  'lost answer',
  'failed',
  'failed after',
  'busy',
  'refused',
  'slow',
] as const;

async function recordGenerations(db: Deployment['db']): Promise<void> {
  await sql`create table generations (id text, generation integer, sealed_tokens text, at integer)`.execute(db);
  for (const event of ['insert', 'update of generation']) {
    await sql`
      create trigger ${sql.raw(`generations_${event.slice(0, 6)}`)} after ${sql.raw(event)} on credentials begin
        insert into generations values (new.id, new.generation, new.sealed_tokens, now_ms());
      end`.execute(db);
  }
}

async function readGenerations(db: Deployment['db']): Promise<Stored[]> {
  const { rows } = await sql<Stored>`select * from generations order by rowid`.execute(db);
  return rows;
}
