/*
 * A log of 100 MB, as the screen of a job asks for it: its first and its last page, a search for a word that is on one line
 * near the end, page by page, and the first error. From the file of the bundled platform, and from our own store on both
 * databases. Compared with reading the bytes of one page from a file, which cannot be avoided.
 */
import { closeSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, BenchmarkOptions } from './benchmark.ts';
import { organizationId } from './dataset.ts';
import { type Figure, figureOf, type Measured, measureInTurns, medianAnswer, timed } from './figures.ts';
import * as product from './product.ts';

const wholeBytes = 100_000_000;
const pageBytes = 100_000;
const partBytes = 250_000;
const rareWord = 'zyzzyva';
const atMost = 1_000;
const asked = 7;

interface Log {
  file: string;
  bytes: number;
}
type Read = (query: product.JobLogQuery) => Promise<Pick<product.JobLog, 'lines' | 'next_offset'>>;

export const jobLog: Benchmark = {
  name: 'job-log',

  async run(options) {
    const logs = join(options.folder, 'logs');
    mkdirSync(logs, { recursive: true });
    // The smoke run moves few records.
    const bytes = Math.min(wholeBytes, Math.max(2_000_000, options.records * 100));
    const log = { file: join(logs, '1-1.log'), bytes };
    writeLog(log);
    const ofFile: Read = async ({ first_error, ...query }) => {
      const ctx = { logs: product.fileLogs(() => logs, Date.now) } as unknown as product.JobsContext;
      const job = { connection_id: 'c', job_id: 1, attempts: 1 } as never;
      const part = await product.readPlatformLog(ctx, job, { ...query, ...(first_error && { firstError: true }) });
      return { ...part, next_offset: part.nextOffset };
    };
    const figures = await measure('the file', log, ofFile, options);
    for (const database of await options.databases.all()) {
      const ofStore = await keep(await database.open('job_log', options), bytes, ofFile);
      figures.push(...(await measure(`our own store on ${database.name}`, log, ofStore, options)));
    }
    return figures;
  },
};

/** As the platform writes it. The rare word and the only error are near the end. */
function writeLog({ file, bytes }: Log): void {
  const descriptor = openSync(file, 'w', 0o600);
  const lineOf = (number: number, level: string, message: string) =>
    JSON.stringify({ time: new Date(number * 1_000).toISOString(), level, origin: 'source', message });
  for (let [written, line] = [0, 0]; written < bytes; ) {
    const lines: string[] = [];
    for (let length = 0; length < 1_000_000; line += 1) {
      const text = `Read page ${line} of the orders, with errors left out ${'x'.repeat(line % 60)}`;
      length += lines[lines.push(lineOf(line, 'INFO', text)) - 1]?.length ?? 0;
    }
    const isNearEnd = written < bytes * 0.95 && written + 1_000_000 >= bytes * 0.95;
    if (isNearEnd) lines.push(lineOf(line, 'ERROR', `The ${rareWord} is gone`));
    written += writeSync(descriptor, `${lines.join('\n')}\n`);
  }
  closeSync(descriptor);
}

/** Puts the log into our own store, in parts, and gives the way to read it there. */
async function keep(store: product.Store, bytes: number, ofFile: Read): Promise<Read> {
  await product.seedPipelines(store, { organizationId, workspaces: 1, jobsEach: 1 });
  const job = await store.db.selectFrom('jobs').selectAll().executeTakeFirstOrThrow();
  let part = 0;
  for (let offset: number | null = 0; offset !== null; part += 1) {
    const page: Awaited<ReturnType<Read>> = await ofFile({ offset, bytes: partBytes });
    const lines = page.lines as product.LogLine[];
    const place = { connection_id: job.connection_id, job_id: job.id, attempt: 1, part };
    const content = { first_error_offset: product.firstErrorIn(lines), content: await product.pack(lines) };
    await store.db
      .insertInto('job_logs')
      .values({
        ...{ organization_id: organizationId, workspace_id: job.workspace_id, ...place },
        ...{ end_offset: page.next_offset ?? bytes, ended_at: 1, ...content },
      })
      .execute();
    offset = page.next_offset;
  }
  const platform = { readJobLog: async () => undefined };
  return (query) => product.readJobLog({ store, platform }, job, query);
}

const wholeSearch = 'search for a rare word, all of its requests';

async function measure(place: string, { file, bytes }: Log, read: Read, options: BenchmarkOptions): Promise<Figure[]> {
  /** All of the log, with as many requests as it takes. Gives the longest. */
  const search = async (): Promise<Measured> => {
    let [longest, offset, found]: [Measured, number | null, number] = [{ tookMs: 0 }, 0, 0];
    while (offset !== null) {
      const from: number = offset;
      const request = await timed(async () => {
        const part = await read({ search: rareWord, offset: from });
        found += part.lines.length;
        offset = part.next_offset;
      });
      if (request.tookMs > longest.tookMs) longest = request;
    }
    if (found !== 1) throw new Error(`${found} lines were found`);
    return longest;
  };
  const ask = (query: product.JobLogQuery) => () => medianAnswer(asked, () => read(query));
  const works = {
    page: () => medianAnswer(asked, async () => readBytes(file)),
    'first page': ask({}),
    'last page': ask({ tail: 500 }),
    'first error, near the end': ask({ first_error: 'true', bytes: 1 }),
    'search for a rare word, the longest of its requests': search,
    [wholeSearch]: () => timed(search),
  };
  const { page, ...took } = await measureInTurns(works, options);
  return Object.entries(took).map(([name, measured]) =>
    figureOf(`A log of ${Math.round(bytes / 1_000_000)} MB in ${place}: ${name}`, ['each', 'ms'], measured, {
      than: ['reading the bytes of one page', page],
      // A search of several requests may take longer, because each of them reports progress.
      ...(name === wholeSearch ? {} : { target: { of: 'value', atMost } }),
    }),
  );
}

function readBytes(file: string): void {
  const descriptor = openSync(file, 'r');
  readSync(descriptor, Buffer.alloc(pageBytes), 0, pageBytes, 500_000);
  closeSync(descriptor);
}
