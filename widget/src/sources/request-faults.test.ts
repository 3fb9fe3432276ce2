import { expect, it } from 'vitest';
import { readRequestFaults } from './request-faults.ts';

const fault = (...loc: string[]) => ({ loc, msg: loc.join('.'), type: 'value_error' as const });

it('leads to the field of the configuration', () => {
  const { fields } = readRequestFaults([fault('body', 'source_config', 'streams', '0', 'name')]);
  expect(fields).toEqual([{ path: ['streams', 0, 'name'], message: 'body.source_config.streams.0.name' }]);
});

it('keeps the first fault of the name', () => {
  const faults = [fault('body', 'name'), { ...fault('body', 'name'), msg: 'second' }];
  expect(readRequestFaults(faults).name).toBe('body.name');
});

it('keeps what belongs to no field', () => {
  const faults = [fault('body', 'source_config'), fault('body'), fault('query', 'x')];
  expect(readRequestFaults(faults)).toEqual({
    name: undefined,
    fields: [],
    others: ['body.source_config', 'body', 'query.x'],
  });
});
