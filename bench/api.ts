/*
 * How many requests a second the service answers on SQLite, compared with a bare server that writes the same bytes. To
 * issue a token the bare server also reads by an index and signs.
 */
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import type { BareAnswer } from './bare-server.ts';
import { type Benchmark, type BenchmarkOptions, type Figure, measureInTurns } from './benchmark.ts';
import { type ChildProgram, startProgram } from './child-program.ts';
import { organizationId } from './dataset.ts';
import { costOfLoad, type Generator, type Load, requestRate, startGenerator } from './load.ts';
import { compareAnswers, measuredWorks, type RequestWork } from './request-works.ts';
import type { Kind } from './requests.ts';
import type { ServiceProcess } from './service-process.ts';

const targets: Partial<Record<Kind, number>> = {
  info: 0.6,
  scopedToken: 0.7,
  widgetToken: 0.65,
  get: 0.5,
  list: 0.4,
  listFar: 0.4,
};
const ceilingNames = { write: 'bare server', issue: 'bare server, signature and read' };

type BareServer = ChildProgram<BareAnswer, { port: number }>;

export const benchmark: Benchmark = {
  name: 'api',

  async run(options) {
    const { databases, workspaces, programs, signal } = options;
    const file = await databases.sqlite.fileOf(workspaces);
    const service = await databases.sqlite.startOn(workspaces);
    const generator = startGenerator(options);
    const bare: BareServer = startProgram(join(programs, 'bare-server.js'), signal);
    try {
      return await measure({ service, generator, bare, file }, options);
    } finally {
      await bare.stop();
      await generator.stop();
      await service.stop();
    }
  },
};

interface Parts {
  service: ServiceProcess;
  generator: Generator;
  bare: BareServer;
  file: string;
}

async function measure({ service, generator, bare, file }: Parts, options: BenchmarkOptions): Promise<Figure[]> {
  const works = await measuredWorks(service, options);
  const withCeiling = works.flatMap((work) => (work.kind && targets[work.kind] ? [{ ...work, kind: work.kind }] : []));
  const turns: Record<string, () => Promise<Load>> = {};
  for (const { name, requests } of works) turns[name] = () => generator.load(service, requests);
  for (const { name, kind, requests } of withCeiling) {
    const answer = await bareAnswerFor(kind, requests, service, file);
    turns[ceilingOf(name)] = async () => {
      const { port } = await bare.ask(answer);
      return await generator.load({ port, pid: bare.pid }, requests);
    };
  }
  const loads = await measureInTurns(turns, options.rounds, costOfLoad);
  const rates = withCeiling.map(({ name, kind }) => {
    const ceiling = {
      name: isIssue(kind) ? ceilingNames.issue : ceilingNames.write,
      load: loads[ceilingOf(name)] as Load,
    };
    return requestRate(`SQLite: ${name}`, loads[name] as Load, ceiling, targets[kind]);
  });
  return [...rates, ...compareAnswers('SQLite', loads)];
}

const ceilingOf = (name: string): string => `${name}, ceiling`;
const isIssue = (kind: Kind): boolean => kind === 'scopedToken' || kind === 'widgetToken';

async function bareAnswerFor(
  kind: Kind,
  [request = '']: RequestWork['requests'],
  service: ServiceProcess,
  file: string,
): Promise<BareAnswer> {
  const answer = await exchange(service.port, request);
  if (!isIssue(kind)) return answer;
  // The longest text that a token of this kind signs: what comes before its signature.
  const token = String((JSON.parse(answer.body) as { token: string }).token);
  const inner = kind === 'widgetToken' ? JSON.parse(Buffer.from(token, 'base64').toString()).token : token;
  return { ...answer, issue: { file, organizationId, signedLength: inner.lastIndexOf('.') } };
}

/** What the service answers, without the headers that any server of Node.js adds. */
function exchange(port: number, request: string): Promise<BareAnswer> {
  const [head = '', body = ''] = request.split('\r\n\r\n');
  const [start = '', ...fields] = head.split('\r\n');
  const [method = '', path = ''] = start.split(' ');
  const headers = Object.fromEntries(fields.map((field) => field.split(': ') as [string, string]));
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host: '127.0.0.1', method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve({ headers: ownHeaders(response.rawHeaders), body: text });
        else reject(new Error(`${method} ${path} was answered with ${response.statusCode}: ${text}`));
      });
    });
    sent.on('error', reject).end(body);
  });
}

function ownHeaders(raw: string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i] ?? '', raw[i + 1] ?? '']);
  return pairs.filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name.toLowerCase()));
}
