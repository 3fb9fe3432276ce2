/*
 * What the log costs and how it is read: a change with its entry beside the same change without, how long an entry waits for
 * its position, and a page of events of a log with many entries beside a page of a log with few. `--workspaces` says how many
 * entries many are.
 */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { type BenchmarkOptions, onBothDatabases } from './benchmark.ts';
import type { Database } from './databases.ts';
import { fillLog, organizationId } from './dataset.ts';
import { compareSizes, type Figure, figureOf, measureInTurns, numberText, timed } from './figures.ts';
import * as product from './product.ts';
import { everybody, makeWorkspace } from './source-row.ts';

const changes = 200;
const pages = 200;
const few = 1_000;
/** A change with its entry may take this much longer than the change alone. */
const costTarget = 1.15;
/** A page of a long log may take this much longer than a page of a short one. */
const growthTarget = 1.5;
/** Nobody waits for a position, but a webhook should not be late because of it. */
const lagTargetMs = 250;

export const events = onBothDatabases('events', async (database, options) => {
  const store = await database.open('events', options);
  const lag = await measureLag(store);
  return [await measureCost(store, options), lag, ...(await measureReading(database, options))];
});

async function measureCost(store: product.Store, options: BenchmarkOptions): Promise<Figure> {
  // As in a request: the entry says where it came from.
  const where = () => ({ address: '203.0.113.7', userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' });
  const journal = product.createJournal({ runtime: product.systemRuntime, cause: { ...product.byWorker, where } });
  const { workspaceId, sourceTemplateId, addSource } = await makeWorkspace(store);
  const round = (add: () => Promise<unknown>) => () =>
    timed(async () => {
      for (let count = 0; count < changes; count++) await add();
    }, changes);
  const addWithEntry = () =>
    addSource(async (tx, id) => {
      const data = { source: { id, name: id, source_template_id: sourceTemplateId } };
      const after = { name: id, source_config: { count: 10 }, template_version: 1, definition_version: 0 };
      const change = { before: undefined, after };
      await journal.record(tx, organizationId, { type: 'source.created', workspaceId, data, change });
    });
  const works = { without: round(() => addSource()), entry: round(addWithEntry) };
  const { without, entry } = await measureInTurns(works, options);
  return figureOf('recording a source with its entry in the log', ['each', 'ms'], entry, {
    than: ['without the entry', without],
    target: { of: 'ratio', atMost: costTarget },
  });
}

const [writers, written] = [4, 250];

/**
 * How long after its commit an entry has a position that readers see, while a few clients make changes all the time: 99 of 100
 * entries are not later. As in the service, the sequencer runs in the background and writes wake it.
 */
async function measureLag(store: product.Store): Promise<Figure> {
  const committedAt: number[] = [];
  const placedAt: number[] = [];
  const looking: Promise<void>[] = [];
  const look = async (now: number): Promise<void> => {
    const { head } = await product.findBounds(store.db, organizationId);
    while (placedAt.length < head) placedAt.push(now);
  };
  const sequencer = product.createSequencer({
    store,
    runtime: product.systemRuntime,
    log: pino({ level: 'silent' }),
    onSequenced: () => void looking.push(look(performance.now())),
  });
  const journal = product.createJournal({
    runtime: product.systemRuntime,
    cause: product.byWorker,
    onRecorded: sequencer.soon,
  });
  sequencer.start();
  try {
    const write = async () => {
      for (let count = 0; count < written; count++) {
        await store.transaction((tx) => journal.record(tx, organizationId, newTag()));
        committedAt.push(performance.now());
        await product.systemRuntime.sleep(Math.random() * 20);
      }
    };
    await Promise.all(Array.from({ length: writers }, write));
    while (placedAt.length < writers * written)
      await Promise.all([look(performance.now()), product.systemRuntime.sleep(20)]);
    await Promise.all(looking);
  } finally {
    await sequencer.stop();
  }
  // Positions are in the order of writing, which is near the order of commits.
  const placed = placedAt.sort((a, b) => a - b);
  const lags = committedAt.map((at, index) => Math.max(0, (placed[index] ?? at) - at)).sort((a, b) => a - b);
  const tookMs = lags[Math.ceil(lags.length * 0.99) - 1] ?? 0;
  return figureOf(
    'from the commit of an entry to its position, 99 of 100',
    ['each', 'ms'],
    { tookMs },
    {
      target: { of: 'value', atMost: lagTargetMs },
    },
  );
}

/** An entry for the log. */
export function newTag() {
  const tag = { id: randomUUID(), name: 'crm' };
  return { type: 'tag.created' as const, data: { tag }, change: { before: undefined, after: { name: tag.name } } };
}

const workspaceOf = (n: number) => `00000000-0000-4000-8000-00000000000${n % 10}`;

/** One type in a thousand is rare, and a tenth belongs to each of ten workspaces. */
const entryOf = (index: number) => ({
  type: index % 1000 === 999 ? 'sync.failed' : 'sync.succeeded',
  workspace_id: workspaceOf(index),
});

const questions: Record<string, Partial<product.Reader>> = {
  'a page of events': {},
  'a page of a rare type': { types: 'sync.failed' },
  "a page of a workspace's events of some types": { workspaceId: workspaceOf(7), types: 'sync.*' },
};

function measureReading(database: Database, options: BenchmarkOptions): Promise<Figure[]> {
  const pagesOf = async (size: number) => {
    const same = { workspace_name: 'acme', data: '{"rows":1000}' };
    const store = await database.open(`events_${size}`, options, ({ db }) =>
      fillLog(db, { count: size, same, rowOf: entryOf, signal: options.signal }),
    );
    const read = (reader: Partial<product.Reader>) => async () => {
      for (let page = 0; page < pages; page++) {
        // From all over the log.
        const after = Math.floor((size * page) / pages / 2);
        await product.readPage({ store } as product.EventsContext, { ...everybody, ...reader }, { after, limit: 1 });
      }
    };
    const asked = Object.entries(questions);
    return Object.fromEntries(asked.map(([question, reader]) => [question, () => timed(read(reader), pages)]));
  };
  const describe = (question: string) => `${question}, of ${numberText(options.workspaces)} entries`;
  return compareSizes([few, options.workspaces], pagesOf, describe, { atMost: growthTarget }, options);
}
