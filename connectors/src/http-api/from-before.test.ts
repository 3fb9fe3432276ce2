/*
 * Configurations and states from before this source used the manifest engine. The states were written by the old code:
 * what it requests, sends and stores must not change.
 */
import { expect, test } from 'vitest';
import type { Handler } from '../../../guard/test/http-server.ts';
import { startApi } from '../../test/start-api.ts';
import type { StreamConfiguration } from './configuration.ts';

interface Case {
  stream: Partial<StreamConfiguration>;
  more?: object;
  answer: Handler;
  /** The state from before; undefined for the first sync. */
  state?: object;
  /** Queries of the read, without those of the earlier discovery. */
  asked: object[];
  records: unknown[];
  /** Absent for a full refresh. */
  stateAfter?: object;
}

const rows = [
  { id: 1, at: '2024-01-02T00:00:00Z' },
  { id: 2, at: '2024-01-03T10:00:00+02:00' },
  { id: 3, at: '2024-01-03T08:00:00Z' },
  { id: 4, at: null },
];
const numbered = [
  { id: 1, n: 9007199254740991 },
  { id: 2, n: 12 },
];

const cases: Record<string, Case> = {
  'a first sync by a cursor field': {
    stream: { cursor_field: 'at', cursor_parameter: 'since', query_parameters: [{ name: 'since', value: '2000' }] },
    answer: () => rows,
    asked: [{ since: '2000' }],
    records: rows,
    stateAfter: {
      cursor: '2024-01-03T10:00:00+02:00',
      at_cursor: ['IFrG7X4fBT5Mfk-jzQOFAN', 'Pxsy0JLhcdBPT7DGSvF-Mt'],
    },
  },
  'a sync that goes on from a time, with a record more at the same moment': {
    stream: { cursor_field: 'at', cursor_parameter: 'since', query_parameters: [{ name: 'since', value: '2000' }] },
    answer: () => [...rows, { id: 5, at: '2024-01-03T08:00:00Z' }],
    state: { cursor: '2024-01-03T10:00:00+02:00', at_cursor: ['IFrG7X4fBT5Mfk-jzQOFAN', 'Pxsy0JLhcdBPT7DGSvF-Mt'] },
    asked: [{ since: '2024-01-03T10:00:00+02:00' }],
    records: [rows[3], { id: 5, at: '2024-01-03T08:00:00Z' }],
    stateAfter: {
      cursor: '2024-01-03T10:00:00+02:00',
      at_cursor: ['IFrG7X4fBT5Mfk-jzQOFAN', 'Pxsy0JLhcdBPT7DGSvF-Mt', 'VVXJAKDfJ81aR8xEHBrA-T'],
    },
  },
  'a sync that goes on from a number beyond what a double holds': {
    stream: { cursor_field: 'n' },
    answer: () => [...numbered, { id: 3, n: 9007199254740991 }],
    state: { cursor: '9007199254740990', at_cursor: ['x'] },
    asked: [{}],
    records: [numbered[0], { id: 3, n: 9007199254740991 }],
    stateAfter: { cursor: 9007199254740991, at_cursor: ['JMoraTPIZVx2czKNJjz2i-', 'HVkSKzGO3wMJheq0lUqt9y'] },
  },
  'a sync that goes on from a number with a point': {
    stream: { cursor_field: 'n' },
    answer: (_, reply) => void reply.end('[{"id": 1, "n": 5.0}, {"id": 2, "n": 5.50}]'),
    state: { cursor: 5, at_cursor: ['Ohxq11tAV3p5_f63Nr_LcY'] },
    asked: [{}],
    records: [{ id: 2, n: 5.5 }],
    stateAfter: { cursor: 5.5, at_cursor: ['_Od5fU4AtUVW-xuk9Q__GQ'] },
  },
  'a sync that finds nothing': {
    stream: { cursor_field: 'n', record_path: 'list', cursor_parameter: 'from' },
    answer: ({ query: { from } }) => (from === undefined ? { list: [] } : {}),
    state: { cursor: 12, at_cursor: ['a', 'b'] },
    asked: [{ from: '12' }],
    records: [],
    stateAfter: { cursor: 12, at_cursor: ['a', 'b'] },
  },
  'pages by offset, with parameters of the path, the list and the key': {
    stream: {
      path: 'things?offset=7&x=1&x=2',
      query_parameters: [
        { name: 'limit', value: '3' },
        { name: 'empty', value: '' },
        { name: 'braces', value: "{{ config['base_url'] }}" },
        { name: 'list', value: "['a', 'b']" },
        { name: 'version', value: '2024.10' },
        { name: 'key', value: 'mine' },
      ],
      pagination: { type: 'offset', page_size: 2 },
    },
    more: {
      authentication: { type: 'query', name: 'key', value: '1e3' },
      headers: [{ name: 'X-Version', value: '2024.10' }],
    },
    answer: ({ query: { offset } }) => rows.slice(Number(offset), Number(offset) + 2),
    asked: ['0', '2', '4'].map((offset) => ({
      offset,
      x: '2',
      limit: '2',
      empty: '',
      braces: "{{ config['base_url'] }}",
      list: "['a', 'b']",
      version: '2024.10',
      key: '1e3',
    })),
    records: rows,
  },
  'pages by token, with tokens that look like numbers': {
    stream: {
      record_path: 'list',
      query_parameters: [
        { name: 't', value: 'first' },
        { name: 'sort', value: 'id' },
      ],
      pagination: { type: 'cursor', token_path: 'next.0', token_parameter: 't' },
    },
    answer: ({ query: { t } }) =>
      t === 'first'
        ? { list: [{ id: 1 }], next: ['1e3'] }
        : t === '1e3'
          ? { list: [{ id: 2 }], next: ['0'] }
          : { list: [], next: [] },
    asked: [
      { t: 'first', sort: 'id' },
      { t: '1e3', sort: 'id' },
      { t: '0', sort: 'id' },
    ],
    records: [{ id: 1 }, { id: 2 }],
  },
  'pages by link, which have their parameters themselves': {
    stream: {
      record_path: 'list',
      cursor_field: 'id',
      cursor_parameter: 'since',
      query_parameters: [{ name: 'sort', value: 'id' }],
      pagination: { type: 'link', url_path: 'next', size_parameter: 'n', page_size: 1 },
    },
    more: { authentication: { type: 'query', name: 'key', value: 'hidden' } },
    answer: ({ query: { after } }) =>
      after ? { list: [{ id: 6 }] } : { list: [{ id: 5 }], next: '?after=5&key=removed' },
    state: { cursor: 4, at_cursor: [] },
    asked: [
      { sort: 'id', since: '4', n: '1', key: 'hidden' },
      { after: '5', key: 'hidden' },
    ],
    records: [{ id: 5 }, { id: 6 }],
    stateAfter: { cursor: 6, at_cursor: ['X9If83xPs9tN9Lk_TI3wqO'] },
  },
};

test.each(Object.entries(cases))('%s is as before', async (_, { stream, more, answer, state, ...expected }) => {
  const { asked, read } = await startApi(answer, stream, more);
  const isIncremental = expected.stateAfter !== undefined;
  const descriptor = { stream_descriptor: { name: 'things' } };
  const before = await read();
  expect(before.states).toEqual([]);
  asked.length = 0;
  const { things, states } = await read({
    syncMode: isIncremental ? 'incremental' : 'full_refresh',
    state: state ? [{ type: 'STREAM', stream: { ...descriptor, stream_state: state } }] : [],
  });
  expect(things).toEqual(expected.records);
  expect(asked.slice(-expected.asked.length).map(({ query }) => query)).toEqual(expected.asked);
  expect(states.map((one) => one.stream)).toEqual(
    isIncremental ? [{ ...descriptor, stream_state: expected.stateAfter }] : [],
  );
});
