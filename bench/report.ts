/* What a run of the benchmarks has found, as a Markdown table. */
import { type Figure, isReached, numberText, type Target } from './figures.ts';

export interface Report {
  startedAt: string;
  machine: string;
  /** The load of the last minute: other work on the machine makes all figures worse. */
  loadBefore: number;
  loadAfter: number;
  rounds: number;
  figures: (Figure & { benchmark: string })[];
}

const columns = ['Work', 'Measured', 'Compared with', 'Ratio', 'Of CPU time', 'Target', 'Besides'];

export function tableOf({ startedAt, machine, loadBefore, loadAfter, rounds, figures }: Report): string {
  const rows = figures.map((figure) => [
    figure.work,
    amount(figure.value, figure.unit),
    figure.reference ? `${amount(figure.reference.value, figure.unit)} (${figure.reference.name})` : '',
    ratioText(figure),
    figure.cpuRatio?.toFixed(2) ?? '',
    targetText(figure),
    besides(figure).join(', '),
  ]);
  const load = `load ${loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after`;
  return `${startedAt}, ${machine}; ${load}; medians of ${rounds}\n\n${linesOf(columns, rows)}${partsOf(figures)}`;
}

/** A second table, of figures that consist of the same parts. */
function partsOf(figures: Figure[]): string {
  const consisting = figures.flatMap(({ work, unit, parts }) => (parts ? [{ work, unit, parts }] : []));
  const names = Object.keys(consisting[0]?.parts ?? {});
  if (names.length === 0) return '';
  const rows = consisting.map(({ work, unit, parts }) => [
    work,
    ...names.map((name) => amount(parts[name] ?? 0, unit)),
  ]);
  return `\n\n${linesOf(['Parts', ...names], rows)}`;
}

const linesOf = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function ratioText({ ratio, spread }: Figure): string {
  return `${ratio?.toFixed(2) ?? ''}${spread ? ` (${spread.map((end) => end.toFixed(2)).join(' to ')})` : ''}`;
}

function targetText(figure: Figure): string {
  const isMet = isReached(figure);
  if (isMet === undefined) return '';
  const { of, atLeast, atMost = 0 } = figure.target as Target;
  const limit = (number: number) => (of === 'ratio' ? rounded(number) : amount(number, figure.unit));
  return `${atLeast === undefined ? `≤ ${limit(atMost)}` : `≥ ${limit(atLeast)}`} ${isMet ? 'reached' : 'missed'}`;
}

const amount = (value: number, unit: Figure['unit']): string => `${rounded(value)} ${unit}`;

function rounded(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}

function besides({ measured, note }: Figure): string[] {
  const { tookMs = 0, count = 1, cpuMs, p50Ms, p99Ms, lagP99Ms, generatorBusy, failures, usage = {} } = measured ?? {};
  const texts = [
    count > 1 && `${numberText(count)} in ${(tookMs / 1000).toFixed(2)} s`,
    p50Ms !== undefined && p99Ms !== undefined && `p50 ${rounded(p50Ms)} ms, p99 ${rounded(p99Ms)} ms`,
    cpuMs !== undefined && `${(cpuMs / count).toFixed(3)} ms of CPU time each`,
    lagP99Ms !== undefined && `loop lag p99 ${rounded(lagP99Ms)} ms`,
    generatorBusy !== undefined && `generator ${Math.round(generatorBusy * 100)} % of a core`,
    failures && `${failures} not answered with 200`,
    ...Object.entries(usage).map(([name, { peakMegabytes, growth, cpuSeconds }]) => {
      const memory = `${Math.round(peakMegabytes)} MB (×${growth.toFixed(2)})`;
      return `${name} ${memory} ${cpuSeconds.toFixed(1)} s`;
    }),
    note,
  ];
  return texts.filter((text) => typeof text === 'string');
}
