/**
 * How many requests were answered, and how long they took. Counted here, not by prom-client, which takes a tenth of the
 * time of a small request to find the numbers of its labels.
 */
import type { Metric, Registry } from 'prom-client';

const durationName = 'inlay_http_request_duration_seconds';
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

interface Numbers {
  labels: { route: string; method: string };
  byStatus: Map<number, number>;
  /** By the number of the lowest bound that the request did not exceed; at the end those that exceeded all. */
  byDuration: number[];
  seconds: number;
}

interface Value {
  metricName?: string;
  labels: Record<string, string | number>;
  value: number;
}

export function countRequests(
  registry: Registry,
): (route: string, method: string, status: number, seconds: number) => void {
  const byRoute = new Map<string, Map<string, Numbers>>();
  const all = () => [...byRoute.values()].flatMap((byMethod) => [...byMethod.values()]);

  register(registry, {
    name: 'inlay_http_requests_total',
    help: 'Number of HTTP requests, by route, method and status',
    type: 'counter',
    labelNames: ['route', 'method', 'status'],
    read: () =>
      all().flatMap(({ labels, byStatus }) =>
        [...byStatus].map(([status, value]) => ({ labels: { ...labels, status }, value })),
      ),
  });
  register(registry, {
    name: durationName,
    help: 'Duration of HTTP requests, by route and method',
    type: 'histogram',
    labelNames: ['route', 'method'],
    read: () => all().flatMap(histogramOf),
  });

  function numbersOf(route: string, method: string): Numbers {
    const byMethod = byRoute.get(route) ?? new Map<string, Numbers>();
    byRoute.set(route, byMethod);
    const byDuration = new Array<number>(bounds.length + 1).fill(0);
    const numbers = { labels: { route, method }, byStatus: new Map<number, number>(), byDuration, seconds: 0 };
    byMethod.set(method, numbers);
    return numbers;
  }

  return (route, method, status, seconds) => {
    const numbers = byRoute.get(route)?.get(method) ?? numbersOf(route, method);
    numbers.byStatus.set(status, (numbers.byStatus.get(status) ?? 0) + 1);
    numbers.seconds += seconds;
    let place = 0;
    while (place < bounds.length && seconds > (bounds[place] as number)) place++;
    numbers.byDuration[place] = (numbers.byDuration[place] as number) + 1;
  };
}

/** In the form of Prometheus: each bucket has everything below its bound. */
function histogramOf({ labels, byDuration, seconds }: Numbers): Value[] {
  let count = 0;
  const buckets = byDuration.map((inBucket, place) => {
    count += inBucket;
    return { metricName: `${durationName}_bucket`, labels: { le: bounds[place] ?? '+Inf', ...labels }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${durationName}_sum`, labels, value: seconds },
    { metricName: `${durationName}_count`, labels, value: count },
  ];
}

interface OwnMetric {
  name: string;
  help: string;
  type: 'counter' | 'histogram';
  labelNames: string[];
  read(): Value[];
}

function register(registry: Registry, { read, ...metric }: OwnMetric): void {
  const get = async () => ({ ...metric, values: read(), aggregator: 'sum' });
  // The registry asks a metric for nothing else.
  registry.registerMetric({ ...metric, get } as unknown as Metric);
}
