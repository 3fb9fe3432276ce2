/**
 * The outcome of each stream's records in one attempt: how many there were, and which values did not arrive unchanged.
 * Collected from what the runner observes and what both connectors report.
 *
 * However much a connector reports, what is remembered is limited: what goes beyond is only counted.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import {
  changeKinds,
  type SkippedRecords,
  type StreamDescriptor,
  streamKey,
  type ValueChange,
} from '@inlay/protocol/protocol';
import {
  fieldsMissingCode,
  type StreamNotice,
  type StreamOutcome,
  type StreamsMoved,
  type SyncRequest,
} from './runner.ts';

export interface ReportLimits {
  /** Limit per stream in the outcome. Fields with the most values come first. */
  fields: number;
  /** Limit for all streams together in the outcome. */
  allFields: number;
  /** Limit of streams in the outcome. Streams with something to report come first. */
  streams: number;
  /** Limit for all streams together while counting. */
  rememberedFields: number;
  /** Limit per stream for keys of skipped records. */
  keys: number;
}

const defaultLimits: ReportLimits = { fields: 20, allFields: 100, streams: 100, rememberedFields: 10_000, keys: 20 };
const maxFieldLength = 200;
const maxExampleLength = 100;

interface Tally {
  stream: StreamDescriptor;
  emitted: number;
  written: number | undefined;
  deleted: number | undefined;
  isReplaced: boolean;
  notices: StreamNotice[];
  skipped: SkippedRecords;
  /** Keyed by kind and field. */
  changes: Map<string, ValueChange>;
  /** Values of fields that are not remembered. */
  otherValues: number;
}

export class StreamReports {
  readonly #limits: ReportLimits;
  readonly #tallies = new Map<string, Tally>();
  readonly #changedValues: StreamsMoved['changedValues'] = {};
  #rememberedFields = 0;

  constructor(
    streams: readonly StreamDescriptor[],
    limits: Partial<ReportLimits> = {},
    notices: SyncRequest['notices'] = new Map(),
  ) {
    this.#limits = { ...defaultLimits, ...limits };
    for (const { name, namespace } of streams) {
      const stream = namespace ? { name, namespace } : { name };
      this.#tallies.set(streamKey(stream), {
        stream,
        emitted: 0,
        written: undefined,
        deleted: undefined,
        isReplaced: true,
        notices: [...(notices.get(streamKey(stream)) ?? [])],
        skipped: { count: 0, keys: [] },
        changes: new Map(),
        otherValues: 0,
      });
    }
  }

  emitted(stream: StreamDescriptor, records: number): void {
    const tally = this.#tallies.get(streamKey(stream));
    if (tally) tally.emitted += records;
  }

  /** How many rows the destination says it has committed or removed; undefined until it reports. */
  changedRowsOf(stream: StreamDescriptor): number | undefined {
    const { written, deleted = 0 } = this.#tallies.get(streamKey(stream)) ?? {};
    return written === undefined ? undefined : written + deleted;
  }

  /**
   * Existing rows of the stream are kept at the destination, because it is unknown whether the stream was read
   * completely.
   */
  notReplaced(stream: StreamDescriptor): void {
    const tally = this.#tallies.get(streamKey(stream));
    if (tally) tally.isReplaced = false;
  }

  get unreplaced(): ReadonlySet<string> {
    return new Set([...this.#tallies].filter(([, { isReplaced }]) => !isReplaced).map(([key]) => key));
  }

  notice(stream: StreamDescriptor, notice: StreamNotice): void {
    this.#tallies.get(streamKey(stream))?.notices.push(notice);
  }

  /** Records that are too large. The keys of the first ones are remembered. */
  skipped(stream: StreamDescriptor, { count, keys }: SkippedRecords): void {
    const skipped = this.#tallies.get(streamKey(stream))?.skipped;
    if (!skipped) return;
    skipped.count += count;
    const room = this.#limits.keys - skipped.keys.length;
    skipped.keys.push(...keys.slice(0, Math.max(0, room)).map((key) => key.slice(0, maxExampleLength)));
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

  /** A connector's report, which can be anything. Its texts pass through `redact`. */
  add(stream: StreamDescriptor, report: Record<string, unknown>, redact: (text: string) => string): void {
    const tally = this.#tallies.get(streamKey(stream));
    if (!tally) return;
    if (isCount(report.records_written)) tally.written = (tally.written ?? 0) + report.records_written;
    if (report.new_fields_sent === true) tally.notices = tally.notices.filter(({ code }) => code !== fieldsMissingCode);
    if (isCount(report.records_deleted)) tally.deleted = (tally.deleted ?? 0) + report.records_deleted;
    const { count, keys } = isObject(report.records_skipped) ? report.records_skipped : {};
    if (isCount(count)) {
      const texts = (Array.isArray(keys) ? keys : []).filter((key): key is string => typeof key === 'string');
      this.skipped(stream, { count, keys: texts.slice(0, this.#limits.keys).map(redact) });
    }
    for (const change of Array.isArray(report.values_changed) ? report.values_changed : []) {
      if (!isObject(change) || typeof change.field !== 'string' || !isCount(change.count)) continue;
      const kind = changeKinds.find((known) => known === change.kind);
      const example = typeof change.example === 'string' ? redact(change.example) : '';
      if (kind) this.changed(stream, { field: redact(change.field), kind, count: change.count, example });
    }
  }

  /** In catalog order. */
  outcome(): StreamsMoved {
    const all = [...this.#tallies.values()];
    const hasNews = ({ changes, otherValues, isReplaced, notices, skipped }: Tally) =>
      changes.size > 0 || otherValues > 0 || !isReplaced || notices.length > 0 || skipped.count > 0;
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
  const { stream, emitted, written, deleted, isReplaced, notices, skipped, changes, otherValues } = tally;
  const sorted = [...changes.values()].sort((a, b) => b.count - a.count);
  const rest = sorted.slice(maxFields);
  const restValues = rest.reduce((sum, { count }) => sum + count, otherValues);
  return {
    stream,
    recordsEmitted: emitted,
    ...(written !== undefined && { recordsWritten: written }),
    ...(deleted !== undefined && { recordsDeleted: deleted }),
    ...(!isReplaced && { notReplaced: true as const }),
    ...(notices.length > 0 && { notices }),
    ...(skipped.count > 0 && { recordsSkipped: skipped }),
    valuesChanged: sorted.slice(0, maxFields),
    ...(restValues > 0 && { moreChanged: { fields: Math.max(1, rest.length), values: restValues } }),
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
