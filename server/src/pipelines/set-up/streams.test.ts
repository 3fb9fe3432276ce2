import { describe, expect, it } from 'vitest';
import type { PlatformStream } from '../../kernel/platform/pipelines-port.ts';
import { chooseStreams } from './streams.ts';

const all = ['full_refresh_overwrite', 'full_refresh_append', 'incremental_append', 'incremental_deduped_history'];
const stream = (name: string, changes: Partial<PlatformStream> = {}): PlatformStream => ({
  name,
  syncModes: all,
  defaultCursorField: [],
  sourceDefinedCursor: false,
  sourceDefinedPrimaryKey: [],
  ...changes,
});
const customization = (changes: object = {}) => ({
  stream_selection_mode: 'suggested' as const,
  stream_whitelist: [],
  stream_customizations: {},
  ...changes,
});
const choose = (available: PlatformStream[], changes: object = {}, suggested: string[] = []) =>
  chooseStreams(available, { customization: customization(changes), suggested, own: undefined });

describe('which streams', () => {
  const three = ['a', 'b', 'c'].map((name) => stream(name));
  const names = (choice: ReturnType<typeof choose>) =>
    'streams' in choice ? choice.streams.map(({ name }) => name) : choice;

  it.each([
    ['the suggested ones', {}, ['b'], ['b']],
    ['all, where none is suggested', {}, [], ['a', 'b', 'c']],
    ['all, whatever is suggested', { stream_selection_mode: 'all' }, ['b'], ['a', 'b', 'c']],
    ['the listed ones', { stream_selection_mode: 'whitelist', stream_whitelist: ['c', 'z'] }, ['b'], ['c']],
  ])('%s', (_, changes, suggested, expected) => {
    expect(names(choose(three, changes, suggested))).toEqual(expected);
  });

  it('says so when there are none', () => {
    expect(choose([])).toMatchObject({ problem: { reasons: { customer: { code: 'no_streams' } } } });
    const changes = { stream_selection_mode: 'whitelist', stream_whitelist: ['z'] };
    const reasons = {
      operator: { code: 'template_streams_gone', parameters: { streams: ['z'] } },
      customer: { code: 'problem_on_our_side', parameters: {} },
    };
    expect(choose(three, changes)).toMatchObject({ problem: { reasons, whose: 'operator' } });
  });
});

describe('how a stream is synced', () => {
  const one = (changes: Partial<PlatformStream>, customizations = {}) => {
    const choice = choose([stream('s', changes)], { stream_customizations: customizations });
    return 'streams' in choice ? choice.streams[0] : choice;
  };

  it('each record once, with a cursor and a key', () => {
    const defined = { sourceDefinedCursor: true, defaultCursorField: ['at'], sourceDefinedPrimaryKey: [['id']] };
    expect(one(defined)).toEqual({ name: 's', syncMode: 'incremental_deduped_history' });
  });
  it('by appending what is new, where the destination cannot distinguish records', () => {
    const defined = { sourceDefinedCursor: true, sourceDefinedPrimaryKey: [['id']] };
    expect(one({ ...defined, syncModes: ['full_refresh_overwrite', 'incremental_append'] })).toEqual({
      name: 's',
      syncMode: 'incremental_append',
    });
  });
  it('from the start each time, without a cursor', () => {
    expect(one({ sourceDefinedPrimaryKey: [['id']], namespace: 'public' })).toEqual({
      name: 's',
      namespace: 'public',
      syncMode: 'full_refresh_overwrite',
    });
  });
  it('from the start each time, where neither a key nor a cursor shows which of two records is the newer one', () => {
    expect(one({ sourceDefinedCursor: true })).toEqual({ name: 's', syncMode: 'full_refresh_overwrite' });
    expect(one({ sourceDefinedCursor: true, syncModes: ['incremental_append'] })).toEqual({
      name: 's',
      syncMode: 'incremental_append',
    });
  });
  it("with the template's cursor and key", () => {
    expect(one({}, { s: { cursor_field: ['at'], primary_key_fields: [['id']] } })).toEqual({
      name: 's',
      syncMode: 'incremental_deduped_history',
      cursorField: ['at'],
      primaryKey: [['id']],
    });
  });
});
