/* Invariants: an interrupted sync loses nothing, and no value is ever treated as a template. */

import type { State, SyncMode } from '@inlay/protocol/protocol';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, manifestWith, read, startApi } from '../test/declarative-api.ts';
import { PartitionedCursor } from './cursors/partitioned-cursor.ts';
import { RangeCursor } from './cursors/range-cursor.ts';
import { emptyParts } from './http/request.ts';
import type { Slice } from './run/slice.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const option = (name: string) => `{type: RequestOption, inject_into: request_parameter, field_name: ${name}}`;
const days = (more: string) =>
  `incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%d", start_datetime: "2024-06-01", end_datetime: "2024-06-10", start_time_option: ${option('from')}, end_time_option: ${option('to')}${more}}`;
const steps = ', step: P3D, cursor_granularity: P1D';
const dayOf = (number: number) => `2024-06-${String(number).padStart(2, '0')}`;

describe('a sync that is cut off anywhere and continues from its last state', () => {
  const shops = `{$ref: "#/definitions/stream", name: shops, $parameters: {name: shops}, ${days(steps)}}`;
  const child = (name: string, router: string) =>
    `  - {$ref: "#/definitions/stream", name: ${name}, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: "/${name}/{{ stream_partition.part }}"}, partition_router: ${router}}, ${days(steps)}}`;
  const manifest = manifestWith(
    [
      child('listed', '{type: ListPartitionRouter, cursor_field: part, values: ["1", "2", "3"]}'),
      child(
        'followed',
        `{type: SubstreamPartitionRouter, parent_stream_configs: [{type: ParentStreamConfig, stream: ${shops}, parent_key: id, partition_field: part, incremental_dependency: true}]}`,
      ),
    ].join('\n'),
    'concurrency_level: {type: ConcurrencyLevel, default_concurrency: 3}',
  );
  const streams: Record<string, SyncMode> = { listed: 'incremental', followed: 'incremental' };
  const answer = () =>
    api.answer(({ path, query }) => {
      const isWanted = ({ day }: { day: string }) => day >= String(query.from) && day <= String(query.to);
      const all =
        path === '/shops'
          ? [1, 4, 5, 9].map((id) => ({ id, day: dayOf(id) }))
          : [2, 3, 6, 8, 10].map((number) => ({ id: `${path}/${number}`, day: dayOf(number) }));
      return { json: { rows: all.filter(isWanted) } };
    });

  it('gives every record at least once, by partitions of a list and of parents that are read by their changes', async () => {
    answer();
    // The clock stands still, so that states in the middle come as often as slices end.
    const whole = await read({ manifest, config: { base: api.address }, streams, statesEverySlice: true });
    const idsOf = (log: typeof whole.log) =>
      new Set(log.flatMap((one) => ('record' in one ? [String(one.record[1].id)] : [])));
    const all = idsOf(whole.log);
    expect(all.size).toBe(7 * 5);
    expect(whole.log.filter((one) => 'state' in one).length).toBeGreaterThan(10);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.log.length), async (cut) => {
        const before = whole.log.slice(0, cut);
        const last = new Map<string, State>();
        for (const one of before)
          if ('state' in one) last.set(one.state.stream?.stream_descriptor.name ?? '', one.state);
        const rest = await read({ manifest, config: { base: api.address }, streams, state: [...last.values()] });
        expect(new Set([...idsOf(before), ...idsOf(rest.log)])).toEqual(all);
      }),
      { numRuns: 12 },
    );
  });
});

describe('a value of a configuration or of an answer', () => {
  it('is never taken for a template, wherever it goes', async () => {
    const manifest = manifestWith(
      `  - {$ref: "#/definitions/stream", name: first, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: "/x/{{ config['value'] | urlencode }}", request_parameters: {a: "{{ config['value'] }}", "{{ config['key'] }}": "1"}, request_headers: {X-A: "{{ config['value'] | urlencode }}"}}, paginator: {type: DefaultPaginator, page_token_option: ${option('token')}, pagination_strategy: {type: CursorPagination, cursor_value: "{{ response['next'] }}"}}, partition_router: {type: ListPartitionRouter, cursor_field: part, values: "{{ config['parts'] }}", request_option: ${option('part')}}}, transformations: [{type: AddFields, fields: [{path: [copy], value: "{{ record['text'] }}"}, {path: [part], value: "{{ stream_partition['part'] }}"}]}]}`,
    );
    const pieces = [
      '{{',
      '}}',
      '{%',
      '%}',
      '{#',
      '#}',
      ' 7 * 7 ',
      "config['secret']",
      ' if true ',
      "''",
      'a',
      '__class__',
    ];
    const text = fc
      .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 })
      .map((parts) => `x${parts.join('')}x`);
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        api.answer((_, count) => ({ json: { rows: [{ text: value }], next: count === 0 ? value : null } }));
        const config = { base: api.address, value, key: value, parts: [value], secret: 'not to be seen' };
        const { records } = await read({ manifest, config, streams: { first: 'full_refresh' } });
        expect(records.first).toEqual([
          { text: value, copy: value, part: value },
          { text: value, copy: value, part: value },
        ]);
        const [asked, next] = api.asked();
        expect(asked).toMatchObject({ path: `/x/${value}`, query: { a: value, [value]: '1', part: value } });
        expect(next?.query.token).toBe(value);
      }),
      { numRuns: 25 },
    );
  });
});

describe('more partitions than have states of their own', () => {
  it('have one cursor for all, in which those begin that are seen for the first time', async () => {
    const range = {
      cursorField: 'at',
      scale: {
        parse: Number,
        format: (value: number) => value,
        compare: (one: number, other: number) => one - other,
        next: (value: number) => value + 1,
      },
      start: 0,
      end: () => 100,
      boundaryFields: ['from', 'to'] as const,
      step: undefined,
      lookBack: undefined,
      beforeNext: undefined,
    };
    const make = (count: number, state: Record<string, unknown>) =>
      new PartitionedCursor<number>(
        {
          cursorField: 'at',
          router: {
            async *slices() {
              for (let part = 0; part < count; part++) yield { partition: { part }, cursor: {}, extraFields: {} };
            },
            parts: emptyParts,
          },
          makeCursor: (own) => new RangeCursor(range, own),
          ...range.scale,
          useGlobalCursor: false,
          seconds: () => 0,
          onDuplicate: () => {},
          limits: { partitionStates: 3, cursors: 5 },
        },
        state,
      );
    const readAll = async (cursor: PartitionedCursor<number>) => {
      const starts: unknown[] = [];
      for await (const slice of cursor.slices() as AsyncIterable<Slice>) {
        starts.push(slice.cursor.from);
        cursor.observe(slice, { at: 40 + Number(slice.partition.part) });
        cursor.close(slice);
      }
      cursor.finish();
      return starts;
    };
    const few = make(3, {});
    expect(await readAll(few)).toEqual([0, 0, 0]);
    expect(few.state()).toMatchObject({ use_global_cursor: false, state: { at: 42 } });
    expect(few.state().states).toHaveLength(3);
    const many = make(20, {});
    await readAll(many);
    expect(many.state()).toEqual({ use_global_cursor: true, state: { at: 59 }, lookback_window: 0 });
    expect(await readAll(make(2, many.state()))).toEqual([59, 59]);
  });
});
