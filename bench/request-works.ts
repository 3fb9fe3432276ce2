/* The requests of a benchmark, and which of their answers are compared with each other. */
import type { BenchmarkOptions, Figure } from './benchmark.ts';
import { type Load, latencyRatio } from './load.ts';
import { type Kind, kinds, requestsOf, searchKinds, searchRequests } from './requests.ts';
import type { ServiceProcess } from './service-process.ts';

export interface RequestWork {
  name: string;
  /** Undefined for a search. */
  kind: Kind | undefined;
  requests: string[];
}

const nameOfSearch = (kind: string): string => `name_contains, ${kind}`;

export async function measuredWorks(
  service: ServiceProcess,
  { workspaces, only }: BenchmarkOptions,
): Promise<RequestWork[]> {
  const isChosen = (name: string) => name.includes(only);
  const works: RequestWork[] = [];
  for (const [kind, name] of Object.entries(kinds) as [Kind, string][]) {
    if (isChosen(name)) works.push({ name, kind, requests: await requestsOf(kind, workspaces, service) });
  }
  for (const kind of searchKinds) {
    const name = nameOfSearch(kind);
    if (isChosen(name)) works.push({ name, kind: undefined, requests: searchRequests(kind) });
  }
  return works;
}

const lagTargetMs = 20;

/** The comparisons that are possible with the requests that were measured. */
export function compareAnswers(database: string, loads: Record<string, Load>): Figure[] {
  const compare = (name: string, than: Kind, of: 'p50Ms' | 'p99Ms', atMost: number): Figure[] => {
    const [ours, reference] = [loads[name], loads[kinds[than]]];
    if (!ours || !reference) return [];
    const what = of === 'p50Ms' ? 'median answer' : 'p99 of an answer';
    return [
      latencyRatio(`${database}: ${name}, ${what}`, ours, { name: kinds[than], load: reference }, { of, atMost }),
    ];
  };
  return [
    ...compare(kinds.listFar, 'list', 'p50Ms', 1.2),
    ...compare(kinds.stats, 'get', 'p50Ms', 2),
    ...searchKinds.flatMap((kind) => compare(nameOfSearch(kind), 'list', 'p99Ms', 5)),
    ...worstLag(database, loads),
  ];
}

function worstLag(database: string, loads: Record<string, Load>): Figure[] {
  const lags = Object.entries(loads).flatMap(([name, { lagP99Ms }]) =>
    lagP99Ms === undefined ? [] : [{ name, lagP99Ms }],
  );
  const worst = lags.toSorted((a, b) => b.lagP99Ms - a.lagP99Ms)[0];
  if (!worst) return [];
  const work = `${database}: event-loop lag p99 while any of these is asked for`;
  const note = `worst with ${worst.name}`;
  return [{ work, value: worst.lagP99Ms, unit: 'ms', target: { of: 'value', atMost: lagTargetMs }, note }];
}
