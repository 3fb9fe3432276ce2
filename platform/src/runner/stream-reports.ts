/**
 * What became of the records of each stream in one attempt: how many there were, and which values did not arrive as
 * they were. Collected from what the runner sees itself and from what both connectors report.
 *
 * However much a connector reports, what is remembered is limited: what goes beyond is only counted.
 */
import { isObject } from '@inlay/contract/connector-configuration';
import { changeKinds, type StreamDescriptor, streamKey, type ValueChange } from '../protocol.ts';
import type { StreamOutcome, StreamsMoved } from './runner.ts';

export interface ReportLimits {
  /** Of one stream, in the outcome. The fields with most values come first. */
  fields: number;
  /** Of all streams together, in the outcome. */
  allFields: number;
  /** In the outcome. Those of which there is something to say come first. */
  streams: number;
  /** Of all streams together, while they are counted. */
  rememberedFields: number;
}

const defaultLimits: ReportLimits = { fields: 20, allFields: 100, streams: 100, rememberedFields: 10_000 };
const maxFieldLength = 200;
const maxExampleLength = 100;

interface Tally {
  stream: StreamDescriptor;
  emitted: number;
  written: number | undefined;
  deleted: number | undefined;
  isReplaced: boolean;
  /** By kind and field. */
  changes: Map<string, ValueChange>;
  /** Values of fields that are not remembered. */
  otherValues: number;
}

export class StreamReports {
  readonly #limits: ReportLimits;
  readonly #tallies = new Map<string, Tally>();
  readonly #changedValues: StreamsMoved['changedValues'] = {};
  #rememberedFields = 0;

  constructor(streams: readonly StreamDescriptor[], limits: Partial<ReportLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
    for (const { name, namespace } of streams) {
      const stream = namespace ? { name, namespace } : { name };
      this.#tallies.set(streamKey(stream), {
        stream,
        emitted: 0,
        written: undefined,
        deleted: undefined,
        isReplaced: true,
        changes: new Map(),
        otherValues: 0,
      });
    }
  }

  emitted(stream: StreamDescriptor, records: number): void {
    const tally = this.#tallies.get(streamKey(stream));
    if (tally) tally.emitted += records;
  }

  /** How many rows the destination says it has put in place; undefined when it has not told yet. */
  writtenOf(stream: StreamDescriptor): number | undefined {
    return this.#tallies.get(streamKey(stream))?.written;
  }

  /** What the destination had of the stream stays, because nobody knows whether the stream was read to its end. */
  notReplaced(stream: StreamDescriptor): void {
    const tally = this.#tallies.get(streamKey(stream));
    if (tally) tally.isReplaced = false;
  }

  changed(stream: StreamDescriptor, { field, kind, count, example }: ValueChange): void {
    const tally = this.#tallies.get(streamKey(stream));
    if (!tally || count === 0) return;
    this.#changedValues[kind] = (this.#changedValues[kind] ?? 0) + count;
    const key = `${kind} ${field}`;
    const known = tally.changes.get(key);
    if (known) known.count += count;
    else if (this.#rememberedFields < this.#limits.rememberedFields) {
      this.#rememberedFields++;
      const shown = { field: field.slice(0, maxFieldLength), example: example.slice(0, maxExampleLength) };
      tally.changes.set(key, { ...shown, kind, count });
    } else tally.otherValues += count;
  }

  /** A report of a connector, which may be anything. Its words are shown as `redact` gives them. */
  add(stream: StreamDescriptor, report: Record<string, unknown>, redact: (text: string) => string): void {
    const tally = this.#tallies.get(streamKey(stream));
    if (!tally) return;
    if (isCount(report.records_written)) tally.written = (tally.written ?? 0) + report.records_written;
    if (isCount(report.records_deleted)) tally.deleted = (tally.deleted ?? 0) + report.records_deleted;
    for (const change of Array.isArray(report.values_changed) ? report.values_changed : []) {
      if (!isObject(change) || typeof change.field !== 'string' || !isCount(change.count)) continue;
      const kind = changeKinds.find((known) => known === change.kind);
      const example = typeof change.example === 'string' ? redact(change.example) : '';
      if (kind) this.changed(stream, { field: redact(change.field), kind, count: change.count, example });
    }
  }

  /** In the order of the catalog. */
  outcome(): StreamsMoved {
    const all = [...this.#tallies.values()];
    const hasNews = ({ changes, otherValues, isReplaced }: Tally) => changes.size > 0 || otherValues > 0 || !isReplaced;
    const first = [...all].sort((a, b) => Number(hasNews(b)) - Number(hasNews(a))).slice(0, this.#limits.streams);
    const shown = new Set(first);
    let fieldsLeft = this.#limits.allFields;
    const streams = all
      .filter((tally) => shown.has(tally))
      .map((tally) => {
        const outcome = outcomeOf(tally, Math.min(fieldsLeft, this.#limits.fields));
        fieldsLeft -= outcome.valuesChanged.length;
        return outcome;
      });
    return { streams, moreStreams: all.length - streams.length, changedValues: this.#changedValues };
  }
}

function outcomeOf(tally: Tally, maxFields: number): StreamOutcome {
  const { stream, emitted, written, deleted, isReplaced, changes, otherValues } = tally;
  const sorted = [...changes.values()].sort((a, b) => b.count - a.count);
  const rest = sorted.slice(maxFields);
  const restValues = rest.reduce((sum, { count }) => sum + count, otherValues);
  return {
    stream,
    recordsEmitted: emitted,
    ...(written !== undefined && { recordsWritten: written }),
    ...(deleted !== undefined && { recordsDeleted: deleted }),
    ...(!isReplaced && { notReplaced: true as const }),
    valuesChanged: sorted.slice(0, maxFields),
    ...(restValues > 0 && { moreChanged: { fields: Math.max(1, rest.length), values: restValues } }),
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
