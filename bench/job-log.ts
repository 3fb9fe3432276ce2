/*
 * A log of 100 MB, as the screen of a job asks for it: its first and its last page, a search for a word that is on one line
 * near the end, page by page, and the first error. From the file of the bundled platform, and from our own store on both
 * databases. Compared with reading the bytes of one page from a file, which cannot be avoided.
 */
import { closeSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { JobLog, JobLogQuery } from '../contract/src/operating.ts';
import type { JobsContext } from '../platform/src/jobs/context.ts';
import { readLog } from '../platform/src/jobs/job-logs.ts';
import { migrate } from '../server/src/db/migrations.ts';
import { openPostgres, openSqlite, type Store } from '../server/src/db/open.ts';
import { createOrganization } from '../server/src/organizations/organizations.ts';
import { firstErrorIn, type LogLine, pack, readJobLog } from '../server/src/pipelines/job-logs.ts';
import type { PlatformPort } from '../server/src/platform/platform-port.ts';
import { systemRuntime } from '../server/src/runtime.ts';
import { seedPipelines } from '../server/test/support/seed-pipelines.ts';
import { type Benchmark, type Figure, measureInTurns, medianMs } from './benchmark.ts';

const wholeBytes = 100_000_000;
const pageBytes = 100_000;
const partBytes = 250_000;
const rareWord = 'zyzzyva';
const atMostMs = 1_000;
const asked = 7;

type Read = (query: JobLogQuery) => Promise<Pick<JobLog, 'lines' | 'next_offset'>>;

export const benchmark: Benchmark = {
  name: 'job-log',

  async run({ folder, rounds, databases, records }) {
    // The smoke run moves few records.
    const bytes = Math.min(wholeBytes, Math.max(2_000_000, records * 100));
    const logs = join(folder, 'logs');
    mkdirSync(logs, { recursive: true });
    const file = join(logs, '1-1.log');
    writeLog(file, bytes);
    const page = () => medianMs(asked, async () => readBytes(file));
    const ofFile: Read = async ({ first_error, ...query }) => {
      const ctx = { logsFolder: () => logs } as unknown as JobsContext;
      const job = { connection_id: 'c', job_id: 1, attempts: 1 } as never;
      const { nextOffset: next_offset, ...log } = await readLog(ctx, job, {
        ...query,
        ...(first_error && { firstError: true }),
      });
      return { ...log, next_offset };
    };
    const figures = await measure('the file', bytes, ofFile, page, rounds);
    const sqlite = openSqlite({ file: join(folder, 'job-log.db'), now: Date.now });
    figures.push(...(await measureKept('SQLite', bytes, sqlite, ofFile, page, rounds)));
    const postgres = await databases.postgres();
    if (!postgres) return figures;
    const url = await postgres.makeEmpty('job_log');
    const store = openPostgres({ url, maxConnections: 2, onIdleError: () => {} });
    return [...figures, ...(await measureKept('PostgreSQL', bytes, store, ofFile, page, rounds))];
  },
};

/** As the platform writes it. The rare word and the only error are near the end. */
function writeLog(file: string, bytes: number): void {
  const descriptor = openSync(file, 'w', 0o600);
  let written = 0;
  for (let line = 0; written < bytes; ) {
    const lines: string[] = [];
    for (let length = 0; length < 1_000_000; line += 1) {
      const time = new Date(line * 1_000).toISOString();
      const text = `Read page ${line} of the orders, with errors left out ${'x'.repeat(line % 60)}`;
      lines.push(JSON.stringify({ time, level: 'INFO', origin: 'source', message: text }));
      length += lines.at(-1)?.length ?? 0;
    }
    if (written < bytes * 0.95 && written + 1_000_000 >= bytes * 0.95) {
      const time = new Date(line * 1_000).toISOString();
      lines.push(JSON.stringify({ time, level: 'ERROR', origin: 'source', message: `The ${rareWord} is gone` }));
    }
    written += writeSync(descriptor, `${lines.join('\n')}\n`);
  }
  closeSync(descriptor);
}

function readBytes(file: string): void {
  const descriptor = openSync(file, 'r');
  readSync(descriptor, Buffer.alloc(pageBytes), 0, pageBytes, 500_000);
  closeSync(descriptor);
}

async function measureKept(
  database: string,
  bytes: number,
  store: Store,
  ofFile: Read,
  page: () => Promise<number>,
  rounds: number,
): Promise<Figure[]> {
  try {
    await migrate(store);
    const { id: organizationId } = await createOrganization(store, systemRuntime, { name: 'Bench' });
    const { seeded } = await seedPipelines(store, { organizationId, workspaces: 1, jobsEach: 1 });
    const job = await store.db.selectFrom('jobs').selectAll().executeTakeFirstOrThrow();
    if (seeded.length === 0) throw new Error('nothing was made');
    let part = 0;
    for (let offset: number | null = 0; offset !== null; part += 1) {
      const { lines, next_offset }: Awaited<ReturnType<Read>> = await ofFile({ offset, bytes: partBytes });
      await store.db
        .insertInto('job_logs')
        .values({
          organization_id: organizationId,
          workspace_id: job.workspace_id,
          connection_id: job.connection_id,
          job_id: job.id,
          attempt: 1,
          part,
          end_offset: next_offset ?? bytes,
          ended_at: 1,
          first_error_offset: firstErrorIn(lines as LogLine[]),
          content: await pack(lines as LogLine[]),
        })
        .execute();
      offset = next_offset;
    }
    const platform = { readJobLog: async () => undefined } as Pick<PlatformPort, 'readJobLog'>;
    const ofStore: Read = (query) => readJobLog({ store, platform }, job, query);
    return await measure(`our own store on ${database}`, bytes, ofStore, page, rounds);
  } finally {
    await store.close();
  }
}

async function measure(
  place: string,
  bytes: number,
  read: Read,
  page: () => Promise<number>,
  rounds: number,
): Promise<Figure[]> {
  /** All of the log, with as many requests as it takes; gives the longest. */
  const search = async () => {
    let [longest, offset]: [number, number | null] = [0, 0];
    let found = 0;
    while (offset !== null) {
      const from = performance.now();
      const part: Awaited<ReturnType<Read>> = await read({ search: rareWord, offset });
      longest = Math.max(longest, performance.now() - from);
      found += part.lines.length;
      offset = part.next_offset;
    }
    if (found !== 1) throw new Error(`${found} lines were found`);
    return longest;
  };
  const works = {
    [onePage]: page,
    'first page': () => medianMs(asked, () => read({})),
    'last page': () => medianMs(asked, () => read({ tail: 500 })),
    'a page in the middle': () => medianMs(asked, () => read({ offset: Math.floor(bytes / 2) })),
    'first error, near the end': () => medianMs(asked, () => read({ first_error: 'true', bytes: 1 })),
    'search for a rare word, the longest of its requests': search,
    [wholeSearch]: async () => {
      const from = performance.now();
      await search();
      return performance.now() - from;
    },
  };
  const took = await measureInTurns(works, rounds, (ms) => ms);
  const reference = { name: onePage, value: took[onePage] };
  return (Object.keys(works) as (keyof typeof works)[])
    .filter((name) => name !== onePage)
    .map((name) => ({
      work: `A log of ${Math.round(bytes / 1_000_000)} MB in ${place}: ${name}`,
      value: took[name],
      unit: 'ms',
      reference,
      ratio: took[name] / reference.value,
      // What takes several requests may take longer: each of them tells how far it is.
      ...(name === wholeSearch ? {} : { target: { of: 'value', atMost: atMostMs } }),
    }));
}

const wholeSearch = 'search for a rare word, all of its requests';
const onePage = 'reading the bytes of one page';
