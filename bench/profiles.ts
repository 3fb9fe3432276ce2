/*
 * CPU profiles of V8, by layer of the service. The product's bundle keeps the names of functions, and its source map
 * leads to their files.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';

/** A node is a function with its callers. Times are in microseconds, on the clock of `process.hrtime`. */
export interface Profile {
  nodes: ProfileNode[];
  startTime: number;
  samples: number[];
  timeDeltas: number[];
}

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number };
  children?: number[];
}

/** The file of a function of the product, relative to the repository. Undefined for other functions. */
type SourceOf = (frame: ProfileNode['callFrame']) => string | undefined;

const runtime = 'Node.js and kernel';
const collector = 'garbage collection';
const serialization = 'serialization';
/** By the file of a function; the first match counts. */
const layers: [name: string, files: RegExp][] = [
  [
    'store',
    /^database\/|\/kernel\/db\/|\.store\.ts$|^node_modules\/(@photostructure\/sqlite|kysely|pg|pg-[^/]*|postgres-[^/]*)\//,
  ],
  [serialization, /^node_modules\/fast-json-stringify\/|\/kernel\/iso-time\.ts$/],
  [
    'log and telemetry',
    /\/kernel\/(telemetry\/|output\.ts)|-log\.ts$|^node_modules\/(pino|pino-[^/]*|sonic-boom|prom-client)\//,
  ],
  ['framework', /^node_modules\//],
  ['authentication', /\/tenancy\/tokens\/(?!rate-limits|.*\.routes\.ts$)/],
  ['hooks', /\/kernel\/|\.hooks\.ts$|\/log\/idempotency\//],
  ['rule', /^[^/]+\/src\//],
];
export const layerNames = [...layers.map(([name]) => name), collector, runtime];

export function samplesBetween({ samples, timeDeltas, startTime }: Profile, fromUs: number, toUs: number): number[] {
  let at = startTime;
  return samples.filter((_, index) => {
    at += timeDeltas[index] ?? 0;
    return at >= fromUs && at <= toUs;
  });
}

/**
 * Gives the layer of a sample: of the innermost function that belongs to one. What Node.js does to send and receive
 * counts for the store if the store calls it. Undefined while the process is idle.
 */
export function layersOf({ nodes }: Profile, sourceOf: SourceOf): (sample: number) => string | undefined {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
  const found = new Map<number, string | undefined>();
  function find(sample: number): string | undefined {
    let isTransfer = false;
    for (let node = byId.get(sample); node; node = callers.get(node.id)) {
      const { functionName, url, lineNumber } = node.callFrame;
      if (functionName === '(idle)') return undefined;
      if (functionName === '(garbage collector)') return collector;
      // What fast-json-stringify has generated. Built-in functions have no line.
      if (url === '' && lineNumber >= 0 && /^(main|anonymous\d*)$/.test(functionName)) return serialization;
      if (/^node:(_?http|net$|internal\/(http|stream))/.test(url)) isTransfer = true;
      const source = sourceOf(node.callFrame);
      const [layer] = layers.find(([, files]) => source !== undefined && files.test(source)) ?? [];
      if (layer !== undefined) return isTransfer && layer !== 'store' ? runtime : layer;
    }
    return runtime;
  }
  return (sample) => {
    if (!found.has(sample)) found.set(sample, find(sample));
    return found.get(sample);
  };
}

export function sourcesOf(program: string, root: string): SourceOf {
  const map = new SourceMap(JSON.parse(readFileSync(`${program}.map`, 'utf8')));
  return ({ url, lineNumber, columnNumber }) => {
    // A build has moved since its code was cached, so only the name of the program is the same.
    if (!url.endsWith('/inlay.cjs')) return undefined;
    const entry = map.findEntry(lineNumber, columnNumber);
    return 'originalSource' in entry ? relative(root, resolve(dirname(program), entry.originalSource)) : undefined;
  };
}
