import type { ConnectorSpecification, Stream } from '@inlay/protocol/protocol';
import { describe, expect, test } from 'vitest';
import { itemsStream } from '../../test/steered.ts';
import { chooseStreams, possibleSyncModes } from './stream-selection.ts';

const destination: ConnectorSpecification = {
  connectionSpecification: {},
  supported_destination_sync_modes: ['overwrite', 'append', 'append_dedup'],
};
const text = { type: 'string' };
/** Leaves cursor and key to the configuration. */
const open: Stream = {
  name: 'open',
  json_schema: { properties: { id: text, at: text, address: { type: 'object', properties: { city: text } } } },
  supported_sync_modes: ['full_refresh', 'incremental'],
};
const inSpace = (namespace: string): Stream => ({ ...open, name: 'twin', namespace });
const catalog = { streams: [itemsStream, open, inSpace('a'), inSpace('b')] };
const choose = (...asked: object[]) => chooseStreams(catalog, asked as { name: string }[], destination);

describe('sync modes', () => {
  test('are those the source offers and the destination takes', () => {
    const all = ['full_refresh_overwrite', 'full_refresh_append', 'incremental_append', 'incremental_deduped_history'];
    expect(possibleSyncModes(itemsStream, destination)).toEqual(all);
    const { supported_destination_sync_modes: _modes, ...silent } = destination;
    expect(possibleSyncModes(itemsStream, silent)).toEqual(all.slice(0, 3));
    const onlyFull: Stream = { ...itemsStream, supported_sync_modes: ['full_refresh'] };
    expect(possibleSyncModes(onlyFull, destination)).toEqual(all.slice(0, 2));
    expect(possibleSyncModes(onlyFull, { ...destination, supported_destination_sync_modes: ['append'] })).toEqual([
      'full_refresh_append',
    ]);
  });
});

describe('choosing streams', () => {
  test('takes all, read in full and replaced, when none is named', () => {
    expect(chooseStreams(catalog, [], destination)).toMatchObject(
      catalog.streams.map((stream) => ({ stream, syncMode: 'full_refresh', destinationSyncMode: 'overwrite' })),
    );
  });

  test('settles cursor and primary key: the source first, then the caller, then the default', () => {
    const mode = { syncMode: 'incremental_deduped_history' };
    expect(choose({ name: 'items', ...mode })).toEqual([
      {
        stream: itemsStream,
        syncMode: 'incremental',
        destinationSyncMode: 'append_dedup',
        cursorField: ['id'],
        primaryKey: [['id']],
      },
    ]);
    expect(choose({ name: 'open', ...mode, cursorField: ['at'], primaryKey: [['id']] })).toMatchObject([
      { cursorField: ['at'], primaryKey: [['id']] },
    ]);
    const streams = [{ ...open, default_cursor_field: ['id'] }];
    const byDefault = chooseStreams({ streams }, [{ name: 'open', syncMode: 'incremental_append' }], destination);
    expect(byDefault).toMatchObject([{ cursorField: ['id'] }]);
  });

  test('needs no cursor where the source follows changes without one, and keeps a cursor that was chosen', () => {
    const streams = [{ ...open, source_defined_cursor: true }];
    const asked = { name: 'open', syncMode: 'incremental_append' } as const;
    expect(chooseStreams({ streams }, [asked], destination)[0]).not.toHaveProperty('cursorField');
    const chosen = chooseStreams({ streams }, [{ ...asked, cursorField: ['at'] }], destination);
    expect(chosen).toMatchObject([{ cursorField: ['at'] }]);
  });

  test('needs no cursor for a stream that is read in full', () => {
    expect(choose({ name: 'open' })[0]).not.toHaveProperty('cursorField');
  });

  test('distinguishes streams of one name by their namespace, and finds the only one without', () => {
    expect(choose({ name: 'twin', namespace: 'b' })).toMatchObject([{ stream: { namespace: 'b' } }]);
    const streams = [inSpace('a')];
    expect(chooseStreams({ streams }, [{ name: 'twin' }], destination)).toMatchObject([{ stream: streams[0] }]);
  });

  test.each([
    ['an unknown stream', [{ name: 'x' }], 'has no stream x.'],
    ['an unknown namespace', [{ name: 'items', namespace: 'x' }], 'has no stream x.items.'],
    ['one of two of a name', [{ name: 'twin' }], 'has no stream twin.'],
    ['a stream twice', [{ name: 'items' }, { name: 'items', namespace: '' }], 'items is configured more than once.'],
    [
      'a sync mode the destination does not know',
      [{ name: 'items', syncMode: 'full_refresh_update' }],
      'Valid modes: full_refresh_overwrite, full_refresh_append, incremental_append, incremental_deduped_history.',
    ],
    [
      'another cursor than the source has set',
      [{ name: 'items', syncMode: 'incremental_append', cursorField: ['name'] }],
      'is set by the source',
    ],
    ['no cursor where one is needed', [{ name: 'open', syncMode: 'incremental_append' }], 'requires a cursorField'],
    [
      'a cursor that is no field',
      [{ name: 'open', syncMode: 'incremental_append', cursorField: ['x'] }],
      'has no field x',
    ],
    ['another primary key than the source has', [{ name: 'items', primaryKey: [['name']] }], 'is set by the source'],
    [
      'no primary key where one is needed',
      [{ name: 'open', syncMode: 'incremental_deduped_history', cursorField: ['at'] }],
      'requires a primaryKey',
    ],
    ['a primary key that is no field', [{ name: 'open', primaryKey: [['address', 'x']] }], 'has no field address.x'],
    ['an empty field', [{ name: 'open', selectedFields: [{ fieldPath: [] }] }], 'is empty'],
    [
      'a nested field',
      [{ name: 'open', selectedFields: [{ fieldPath: ['address', 'city'] }] }],
      'cannot be selected individually',
    ],
    ['an unknown field', [{ name: 'open', selectedFields: [{ fieldPath: ['x'] }] }], 'has no field x'],
    [
      'fields without the cursor',
      [{ name: 'items', syncMode: 'incremental_append', selectedFields: [{ fieldPath: ['name'] }] }],
      'id of the stream items must be selected',
    ],
    ['mappers', [{ name: 'open', mappers: [{ type: 'hashing' }] }], 'not supported'],
  ])('refuses %s', (_what, asked, message) => {
    expect(() => choose(...asked)).toThrow(
      expect.objectContaining({ title: 'bad-request', data: { message: expect.stringContaining(message) } }),
    );
  });

  test('takes an empty list of fields for all', () => {
    expect(choose({ name: 'open', selectedFields: [] })[0]).not.toHaveProperty('selectedFields');
  });
});
