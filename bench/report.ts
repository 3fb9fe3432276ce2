/* What a run of the benchmarks has found, as a Markdown table. */
import { type Figure, isReached, type Target } from './benchmark.ts';
import type { Usage } from './process-usage.ts';

export interface Report {
  startedAt: string;
  machine: string;
  /** The load of the last minute: other work on the machine makes all figures worse. */
  loadBefore: number;
  loadAfter: number;
  rounds: number;
  figures: Figure[];
}

const columns = ['Work', 'Measured', 'Compared with', 'Ratio', 'Of CPU time', 'Target', 'Besides'];

export function tableOf({ startedAt, machine, loadBefore, loadAfter, rounds, figures }: Report): string {
  const rows = figures.map((figure) => [
    figure.work,
    amount(figure.value, figure.unit),
    figure.reference ? `${amount(figure.reference.value, figure.unit)} (${figure.reference.name})` : '',
    figure.ratio?.toFixed(2) ?? '',
    figure.cpuRatio?.toFixed(2) ?? '',
    figure.target ? `${targetText(figure.target, figure.unit)} ${isReached(figure) ? 'reached' : 'missed'}` : '',
    besides(figure).join(', '),
  ]);
  const lines = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const load = `load ${loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after`;
  return `${startedAt}, ${machine}; ${load}; medians of ${rounds}\n\n${lines.join('\n')}`;
}

function targetText({ of, atLeast, atMost }: Target, unit: Figure['unit']): string {
  const limit = (number: number) => (of === 'ratio' ? rounded(number) : amount(number, unit));
  return atLeast === undefined ? `≤ ${limit(atMost ?? 0)}` : `≥ ${limit(atLeast)}`;
}

function amount(value: number, unit: Figure['unit']): string {
  return `${rounded(value)} ${unit}`;
}

function rounded(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}

function besides({
  records,
  tookMs,
  latency,
  cpuMsPerRequest,
  lagP99Ms,
  generatorBusy,
  failures,
  usage,
  note,
}: Figure): string[] {
  return [
    ...(records !== undefined && tookMs !== undefined
      ? [`${records.toLocaleString('en')} in ${(tookMs / 1000).toFixed(2)} s`]
      : []),
    ...(latency ? [`p50 ${rounded(latency.p50Ms)} ms, p99 ${rounded(latency.p99Ms)} ms`] : []),
    ...(cpuMsPerRequest === undefined ? [] : [`${cpuMsPerRequest.toFixed(3)} ms of CPU time each`]),
    ...(lagP99Ms === undefined ? [] : [`loop lag p99 ${rounded(lagP99Ms)} ms`]),
    ...(generatorBusy === undefined ? [] : [`generator ${Math.round(generatorBusy * 100)} % of a core`]),
    ...(failures ? [`${failures} not answered with 200`] : []),
    ...(usage ? usageText(usage) : []),
    ...(note === undefined ? [] : [note]),
  ];
}

function usageText(usage: Usage): string[] {
  return Object.entries(usage).map(([name, { peakMegabytes, growth, cpuSeconds }]) => {
    const memory = `${Math.round(peakMegabytes)} MB (×${growth.toFixed(2)})`;
    return `${name} ${memory} ${cpuSeconds.toFixed(1)} s`;
  });
}
