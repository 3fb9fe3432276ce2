/* Cursors that are dates. */
import { isJsonObject } from '@inlay/protocol/json';
import {
  anything,
  boolean,
  type ComponentDefinition,
  component,
  either,
  type Given,
  list,
  optional,
  required,
  template,
  text,
} from '../component.ts';
import { PartitionedCursor } from '../cursors/partitioned-cursor.ts';
import { RangeCursor, type RangeSettings, type Scale } from '../cursors/range-cursor.ts';
import { type PartitionRouter, type StreamCursor, WholeStreamCursor } from '../cursors/stream-cursor.ts';
import { DateError } from '../dates/date-error.ts';
import { DateTime, utc } from '../dates/date-time.ts';
import { type Duration, parseDuration, Timedelta } from '../dates/durations.ts';
import { formatDate, parseDate, parseDateBy } from '../dates/formats.ts';
import { RunFailure } from '../http/failures.ts';
import { emptyParts, type RequestParts } from '../http/request.ts';
import { placed } from '../manifest/places.ts';
import type { RequestOption } from '../requests/request-options.ts';
import { type Slice, sliceView } from '../run/slice.ts';
import { pythonText } from '../values/printing.ts';

/** What a cursor gets from the stream around it. */
export interface CursorSurroundings extends Record<string, unknown> {
  router?: PartitionRouter | undefined;
  state?: Record<string, unknown>;
  /** Partitions that group others have no states of their own. */
  isGrouped?: boolean;
}

export interface IncrementalSync {
  cursor: StreamCursor;
  /** What a slice puts into a request. */
  parts(slice: Slice): RequestParts;
  isDataFeed: boolean;
  isClientSide: boolean;
  /** The catalog may name another cursor field. */
  isCursorOpen: boolean;
}

type Length = Timedelta | Duration;

const defaultFormat = '%Y-%m-%dT%H:%M:%S.%f%z';

/** A date with limits, as a component or as a single text. */
function readDate(given: Given, name: string, format: string): (() => DateTime) | undefined {
  const value = given.value(name);
  if (value === undefined || value === '') return undefined;
  const bounds = isJsonObject(value)
    ? given.inside({ ...value, $parameters: value.$parameters ?? given.parameters }, name)
    : given.inside({ datetime: value, $parameters: given.parameters }, name);
  const ownFormat = bounds.text('datetime_format') || format || defaultFormat;
  const dateIn = (option: string) => {
    const template = bounds.template(option);
    const at = { ...bounds.at(option), template: bounds.text(option) };
    return () => {
      const found = template?.value();
      return found === undefined || found === ''
        ? undefined
        : placed(at, () => readAs(ownFormat, pythonText(found), template?.settings));
    };
  };
  const [date, least, most] = ['datetime', 'min_datetime', 'max_datetime'].map(dateIn);
  return () => {
    const found = date?.();
    if (!found) throw new Error(`The ${name} of a DatetimeBasedCursor is empty.`);
    const [from, until] = [least?.(), most?.()];
    const raised = from && from.compare(found) > 0 ? from : found;
    return until && until.compare(raised) < 0 ? until : raised;
  };
}

/** Throws a RunFailure that says which form is expected, and names the settings that the date is taken from. */
function readAs(format: string, text: string, settings: readonly string[] = []): DateTime {
  try {
    return parseDate(text, format);
  } catch (error) {
    if (!(error instanceof DateError)) throw error;
    const words = `"${text}" is not a date in the format ${format}, such as ${formatDate(example, format)}`;
    const fields = settings.length > 0 ? { fields: settings } : {};
    throw new RunFailure(words, 'config_error', { ...fields, cause: error });
  }
}

const example = DateTime.of({ year: 2024, month: 12, day: 31, hour: 15, minute: 30, second: 0, microsecond: 0 }, utc);

function readLength(given: Given, name: string): Length | undefined {
  const found = given.rendered(name);
  if (found === undefined || found === '' || found === null) return undefined;
  return placed({ ...given.at(name), template: given.text(name) }, () => parseDuration(pythonText(found)));
}

function dateScale(format: string, inputFormats: readonly string[], granularity: Length | undefined): Scale<DateTime> {
  const unit = granularity ?? Timedelta.of({ milliseconds: 1 });
  // A format without a zone would turn the time of another zone into one in UTC.
  const writesZone = /%z/i.test(format);
  return {
    parse: (value) => parseDateBy(value, inputFormats),
    format: (value) => formatDate(value.zone && !writesZone ? value.inZone(utc) : value, format),
    compare: (one, other) => one.compare(other),
    next: (value) => value.plus(unit),
  };
}

function makeDatetimeCursor(given: Given): IncrementalSync {
  const { router, state = {}, isGrouped = false } = given.around as CursorSurroundings;
  const format = given.text('datetime_format') ?? defaultFormat;
  const formats = [...given.texts('cursor_datetime_formats'), format];
  const granularity = readLength(given, 'cursor_granularity');
  const step = readLength(given, 'step');
  const isDataFeed = given.flag('is_data_feed');
  const isClientSide = given.flag('is_client_side_incremental');
  const [startField, endField] = [
    pythonText(given.rendered('partition_field_start', 'start_time')),
    pythonText(given.rendered('partition_field_end', 'end_time')),
  ];
  const cursorField = chosenCursorField(given);
  const scale = dateScale(format, formats, granularity);
  const startOf = readDate(given, 'start_datetime', format);
  if (!startOf) throw new Error('A DatetimeBasedCursor requires a start_datetime.');
  const endOf = readDate(given, 'end_datetime', format) ?? (() => given.run.clock.now());
  const lookBack = readLength(given, 'lookback_window');
  const { clamp, end } = makeClamping(given, endOf, granularity);
  const settings: RangeSettings<DateTime> = {
    cursorField,
    scale,
    start: startOf(),
    end,
    boundaryFields: [startField, endField],
    step: step && ((from) => stepFrom(from, step, end)),
    lookBack: lookBack && ((from) => from.minus(lookBack)),
    beforeNext: granularity && ((until) => until.minus(granularity)),
    ...(clamp && { clamp }),
  };
  const startOption = given.child<RequestOption>('start_time_option');
  const endOption = given.child<RequestOption>('end_time_option');
  return {
    isDataFeed,
    isClientSide,
    isCursorOpen: given.flag('allow_catalog_defined_cursor_field'),
    cursor: router
      ? new PartitionedCursor<DateTime>(
          {
            cursorField,
            router,
            makeCursor: (own, seconds) => new RangeCursor(settings, lookedBack(own, cursorField, scale, seconds)),
            parse: scale.parse,
            format: scale.format,
            compare: scale.compare,
            // As in the reference runtime, a state decides before the manifest does.
            useGlobalCursor: isGrouped || given.flag('global_substream_cursor'),
            seconds: () => given.run.clock.seconds(),
            onDuplicate: () =>
              given.run.log('WARN', `${given.making.streamName}: Read a duplicate partition only once.`),
          },
          state,
        )
      : new WholeStreamCursor(new RangeCursor(settings, state)),
    parts(slice) {
      const parts = emptyParts();
      const view = sliceView(slice);
      startOption?.put(parts, view[startField] ?? null);
      endOption?.put(parts, view[endField] ?? null);
      return parts;
    },
  };
}

/** The field that the catalog names, where the manifest lets it, otherwise that of the manifest. */
export function chosenCursorField(given: Given): string {
  const chosen = given.making.configured.get(given.making.streamName)?.cursor_field;
  const mayChoose = given.flag('allow_catalog_defined_cursor_field');
  if (mayChoose && Array.isArray(chosen) && chosen[0]) return chosen[0];
  return pythonText(given.rendered('cursor_field'));
}

/** A step beyond the last date there is ends at the end. */
function stepFrom(from: DateTime, step: Length, end: () => DateTime): DateTime {
  try {
    return from.plus(step);
  } catch {
    return end();
  }
}

function lookedBack(
  state: Record<string, unknown>,
  cursorField: string,
  scale: Scale<DateTime>,
  seconds: number,
): Record<string, unknown> {
  const value = state[cursorField];
  if (seconds === 0 || value === undefined || value === null) return state;
  return { ...state, [cursorField]: scale.format(scale.parse(value).minus(Timedelta.of({ seconds }))) };
}

const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'];

/** Moves the ends of slices to whole days, weeks or months. */
function makeClamping(
  given: Given,
  end: () => DateTime,
  granularity: Length | undefined,
): { clamp?: (value: DateTime) => DateTime; end: () => DateTime } {
  const clamping = given.value('clamping');
  if (!isJsonObject(clamping)) return { end };
  const inside = given.inside({ ...clamping, $parameters: given.parameters }, 'clamping');
  const target = pythonText(inside.rendered('target'));
  const details = inside.value('target_details');
  const weekday = weekdays.indexOf(String(isJsonObject(details) ? details.weekday : ''));
  if (target === 'WEEK' && weekday === -1) throw new Error('Clamping to weeks requires a weekday in target_details.');
  if (!['DAY', 'WEEK', 'MONTH'].includes(target)) throw new Error(`Clamping to ${target} is not supported.`);
  const floor = (value: DateTime) => floorTo(value, target, weekday);
  const clamp = (value: DateTime) => {
    const low = floor(value);
    return low.compare(value) === 0 ? value : floor(low.plus(unitOf(target)));
  };
  const unit = granularity ?? Timedelta.of(target === 'DAY' ? { seconds: 1 } : { days: 1 });
  return { clamp, end: () => floor(end()).minus(unit) };
}

function unitOf(target: string): Length {
  return target === 'MONTH' ? parseDuration('P1M') : Timedelta.of({ days: target === 'DAY' ? 1 : 7 });
}

function floorTo(value: DateTime, target: string, weekday: number): DateTime {
  const { hour, minute, second, microsecond, day } = value.fields;
  const midnight = value.minus(
    Timedelta.of({ hours: hour, minutes: minute, seconds: second, microseconds: microsecond }),
  );
  if (target === 'DAY') return midnight;
  if (target === 'MONTH') return midnight.minus(Timedelta.of({ days: day - 1 }));
  const current = (((Math.floor(midnight.localSeconds / 86_400) + 3) % 7) + 7) % 7;
  return midnight.minus(Timedelta.of({ days: (current - weekday + 7) % 7 }));
}

const dateOption = either(template, component('MinMaxDatetime'));

export const dateCursorComponents: ComponentDefinition[] = [
  {
    name: 'DatetimeBasedCursor',
    step: 'S1',
    words: 'Reads new and changed records incrementally by a date field. Splits the time range into slices.',
    options: {
      cursor_field: required(template, 'The date field of a record.'),
      datetime_format: required(text, 'The date format in requests and in the state.'),
      start_datetime: required(dateOption, 'Start date of the first sync.'),
      cursor_datetime_formats: optional(list(text), 'Date formats in records and states, tried in order.'),
      end_datetime: optional(dateOption, 'End date of a sync (default: now).'),
      start_time_option: optional(component('RequestOption'), 'Where to send the start of a slice in the request.'),
      end_time_option: optional(component('RequestOption'), 'Where to send the end of a slice in the request.'),
      cursor_granularity: optional(
        text,
        'The smallest unit of the dates. Each slice ends this much before the next one starts.',
      ),
      step: optional(template, 'Length of a slice, such as P1M. Without it, there is one slice.'),
      lookback_window: optional(template, 'How far before the last state a sync starts.'),
      is_data_feed: optional(
        boolean,
        'For APIs that return the newest records first. Drops old records and stops pagination at the first one.',
        false,
      ),
      is_client_side_incremental: optional(
        boolean,
        'Drops old records on the client side, for APIs that cannot filter.',
        false,
      ),
      is_compare_strictly: optional(boolean, 'Accepted but has no effect.', false),
      global_substream_cursor: optional(boolean, 'Uses one cursor for all partitions.', false),
      partition_field_start: optional(template, 'The name of the start in stream_interval.', 'start_time'),
      partition_field_end: optional(template, 'The name of the end in stream_interval.', 'end_time'),
      clamping: optional(anything, 'Aligns slices to whole days, weeks or months with `target` and `target_details`.'),
      allow_catalog_defined_cursor_field: optional(boolean, 'Allows the catalog to set the cursor field.', false),
    },
    rule(values) {
      if (!values.step !== !values.cursor_granularity)
        return 'A DatetimeBasedCursor requires both step and cursor_granularity, or neither';
      return undefined;
    },
    make: makeDatetimeCursor,
  },
  {
    name: 'MinMaxDatetime',
    step: 'S1',
    words: 'A date with optional minimum and maximum.',
    options: {
      datetime: required(template, 'The date.'),
      datetime_format: optional(text, 'The date format (default: that of the cursor).'),
      min_datetime: optional(template, 'The minimum.'),
      max_datetime: optional(template, 'The maximum.'),
    },
  },
];
