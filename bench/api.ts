/*
 * How many requests a second the service answers, compared with a bare server that does only the unavoidable work of a
 * request: bare-server.ts.
 */
import type { BareAnswer, BarePlace } from './bare-server.ts';
import { type Benchmark, type BenchmarkOptions, onPostgres } from './benchmark.ts';
import { startProgram } from './child-program.ts';
import { type Database, fileOf, urlOf } from './databases.ts';
import { type Figure, figureOf, type Measured, measureInTurns } from './figures.ts';
import { startGenerator } from './load.ts';
import { chosenWorks, compareAnswers, type Kind } from './requests.ts';
import { startService } from './service-process.ts';
import { statementOf } from './statements.ts';

/** How much of what the bare server does is wanted. */
const targets: Record<Kind, number> = {
  ...{ info: 0.6, scopedToken: 0.7, widgetToken: 0.65, get: 0.5, stats: 0.5 },
  ...{ list: 0.5, listLong: 0.5, listFar: 0.5 },
};

export const api: Benchmark = { name: 'api', run: (options) => measure(options.databases.sqlite, options) };
export const apiOnPostgres = onPostgres('api-postgres', measure);

async function measure(database: Database, options: BenchmarkOptions): Promise<Figure[]> {
  const place = await database.withWorkspaces(options.workspaces);
  const barePlace: BarePlace = database.name === 'SQLite' ? { file: fileOf(place) } : { url: urlOf(place) };
  const service = await startService(place, options);
  const generator = startGenerator(options);
  const bare = startProgram<BareAnswer, { port: number }>('bare-server', options);
  const works: Record<string, () => Promise<Measured>> = {};
  const rates: ((measured: Record<string, Measured>) => Figure)[] = [];
  for (const { name, kind, requests } of await chosenWorks(service, options)) {
    works[name] = () => generator.load(service, requests);
    if (!kind) continue;
    const answer = await bareAnswerOf(kind, requests, service.port);
    const statement = await statementOf(kind, options.workspaces, database.name);
    works[`${name}, bare`] = async () => {
      const { port } = await bare.ask({
        ...answer,
        ...(statement && { statement: { ...statement, place: barePlace } }),
      });
      return await generator.load({ port, pid: bare.pid }, requests);
    };
    const ceiling = ['bare server', statement && 'statement', answer.signedLength && 'signature'];
    rates.push((measured) =>
      figureOf(name, ['rate', 'requests/s'], measured[name], {
        than: [ceiling.filter(Boolean).join(', '), measured[`${name}, bare`]],
        target: { of: 'ratio', atLeast: targets[kind] },
      }),
    );
  }
  const measured = await measureInTurns(works, options);
  const figures = [...rates.map((rateIn) => rateIn(measured)), ...compareAnswers(measured)];
  return figures.map((figure) => ({ ...figure, work: `${database.name}: ${figure.work}` }));
}

async function bareAnswerOf(kind: Kind, [request = '']: string[], port: number): Promise<BareAnswer> {
  const answer = await exchange(port, request);
  const isIssue = kind === 'scopedToken' || kind === 'widgetToken';
  return isIssue ? { ...answer, signedLength: signedLengthOf(answer.body, kind) } : answer;
}

/** The signing input of such a token: the text before its signature. */
function signedLengthOf(body: string, kind: 'scopedToken' | 'widgetToken'): number {
  const { token } = JSON.parse(body) as { token: string };
  return (kind === 'scopedToken' ? token : JSON.parse(Buffer.from(token, 'base64').toString()).token).lastIndexOf('.');
}

/** What the service answers, without the headers that the bare server has anyway. */
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
  const own = [...answer.headers].filter(
    ([name]) => !['date', 'connection', 'keep-alive', 'content-length'].includes(name),
  );
  return { headers: own, body: text };
}
