/*
 * How many requests a second the service answers. On SQLite it is compared with a bare server that writes the same
 * bytes; to issue a token the bare server also reads by an index and signs. On PostgreSQL it is compared with how often
 * `pgbench` runs the same statements with the same number of clients.
 */
import type { BareAnswer } from './bare-server.ts';
import { type Benchmark, type BenchmarkOptions, onPostgres } from './benchmark.ts';
import { startProgram } from './child-program.ts';
import { type Database, fileOf } from './databases.ts';
import { organizationId } from './dataset.ts';
import { type Figure, figureOf, type Measured, measureInTurns } from './figures.ts';
import { type Generator, startGenerator } from './load.ts';
import { perSecondOf } from './pgbench.ts';
import { chosenWorks, compareAnswers, type Kind, kinds } from './requests.ts';
import { type ServiceProcess, startService } from './service-process.ts';

type Ceiling = [name: string, measure: () => Promise<Measured>];
type Targets = Partial<Record<Kind, number>>;

/** How much of the ceiling is wanted. */
const onBareServer: Targets = {
  ...{ info: 0.6, scopedToken: 0.7, widgetToken: 0.65, get: 0.5, list: 0.4, listLong: 0.4, listFar: 0.4 },
};
const onPgbench = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, 0.5])) as Targets;

export const api: Benchmark = {
  name: 'api',

  async run(options) {
    const { sqlite } = options.databases;
    const file = fileOf(await sqlite.withWorkspaces(options.workspaces));
    const bare = startProgram<BareAnswer, { port: number }>('bare-server', options);
    return await measure(sqlite, options, onBareServer, async (kind, requests, service, generator) => {
      const [request = ''] = requests;
      const answer = await exchange(service.port, request);
      const isIssue = kind === 'scopedToken' || kind === 'widgetToken';
      if (isIssue) answer.issue = { file, organizationId, signedLength: signedLengthOf(answer.body, kind) };
      const measureBare = async () => {
        const { port } = await bare.ask(answer);
        return await generator.load({ port, pid: bare.pid }, requests);
      };
      return [isIssue ? 'bare server, signature and read' : 'bare server', measureBare];
    });
  },
};

export const apiOnPostgres = onPostgres('api-postgres', async (database, options) => {
  const program = database.program('pgbench');
  const place = await database.withWorkspaces(options.workspaces);
  return await measure(database, options, onPgbench, async (kind) =>
    program === undefined ? undefined : ['pgbench, same statement', () => perSecondOf(program, kind, place, options)],
  );
});

async function measure(
  database: Database,
  options: BenchmarkOptions,
  targets: Targets,
  ceilingOf: (
    kind: Kind,
    requests: string[],
    service: ServiceProcess,
    generator: Generator,
  ) => Promise<Ceiling | undefined>,
): Promise<Figure[]> {
  const service = await startService(await database.withWorkspaces(options.workspaces), options);
  const generator = startGenerator(options);
  const works: Record<string, () => Promise<Measured>> = {};
  const rates: ((measured: Record<string, Measured>) => Figure)[] = [];
  for (const { name, kind, requests } of await chosenWorks(service, options)) {
    works[name] = () => generator.load(service, requests);
    const atLeast = kind && targets[kind];
    if (!kind || atLeast === undefined) continue;
    const [nameOfCeiling, ceiling] = (await ceilingOf(kind, requests, service, generator)) ?? ['', undefined];
    if (ceiling) works[`${name}, ceiling`] = ceiling;
    rates.push((measured) =>
      figureOf(name, ['rate', 'requests/s'], measured[name], {
        than: [nameOfCeiling, measured[`${name}, ceiling`]],
        target: { of: 'ratio', atLeast },
      }),
    );
  }
  const measured = await measureInTurns(works, options);
  const figures = [...rates.map((rateIn) => rateIn(measured)), ...compareAnswers(measured)];
  return figures.map((figure) => ({ ...figure, work: `${database.name}: ${figure.work}` }));
}

/** The signing input of such a token: the text before its signature. */
function signedLengthOf(body: string, kind: 'scopedToken' | 'widgetToken'): number {
  const { token } = JSON.parse(body) as { token: string };
  return (kind === 'scopedToken' ? token : JSON.parse(Buffer.from(token, 'base64').toString()).token).lastIndexOf('.');
}

/** What the service answers, without the headers that any server of Node.js adds. */
async function exchange(port: number, request: string): Promise<BareAnswer> {
  const [head = '', body = ''] = request.split('\r\n\r\n');
  const [start = '', ...fields] = head.split('\r\n');
  const [method = '', path = ''] = start.split(' ');
  const headers = fields
    .map((field) => field.split(': ') as [string, string])
    .filter(([name]) => !['Host', 'Content-Length'].includes(name));
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...(body && { body }) });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`);
  const own = [...answer.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name));
  return { headers: own, body: text };
}
