/* What a run of the benchmarks has found, as a Markdown table. */
import type { Figure } from './benchmark.ts';
import type { Usage } from './process-usage.ts';

export interface Report {
  startedAt: string;
  machine: string;
  /** Of the last minute: other work on the machine makes all figures worse. */
  loadBefore: number;
  loadAfter: number;
  rounds: number;
  figures: Figure[];
}

const columns = [
  'Work',
  'Records',
  'Took',
  'Per second',
  'Ceiling',
  'Ratio',
  'Of CPU time',
  'Peak memory (growth), CPU time',
];

export function tableOf({ startedAt, machine, loadBefore, loadAfter, rounds, figures }: Report): string {
  const rows = figures.map(({ work, ceiling, records, tookMs, ceilingMs, ratio, cpuRatio, usage }) => [
    work,
    records.toLocaleString('en'),
    seconds(tookMs),
    Math.round((records / tookMs) * 1000).toLocaleString('en'),
    `${seconds(ceilingMs)} (${ceiling})`,
    ratio.toFixed(2),
    cpuRatio?.toFixed(2) ?? '',
    usageText(usage),
  ]);
  const lines = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const load = `load ${loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after`;
  return `${startedAt}, ${machine}; ${load}; medians of ${rounds}\n\n${lines.join('\n')}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function usageText(usage: Usage): string {
  return Object.entries(usage)
    .map(([name, { peakMegabytes, growth, cpuSeconds }]) => {
      const memory = `${Math.round(peakMegabytes)} MB (×${growth.toFixed(2)})`;
      return `${name} ${memory} ${cpuSeconds.toFixed(1)} s`;
    })
    .join(', ');
}
