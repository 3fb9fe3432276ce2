import type { Fault } from '@inlay/contract/errors';
import { expect, it } from 'vitest';
import { readRequestFaults as read } from './request-faults.ts';

const readRequestFaults = (faults: Fault[]) => read(faults, 'Enter it again.');
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

it('says at a secret, in the words of the customer, that it has to be entered again for another address', () => {
  const moved = { ...fault('body', 'source_config', 'login', 'password'), type: 'value_error.secret' as const };
  expect(readRequestFaults([moved]).fields).toEqual([{ path: ['login', 'password'], message: 'Enter it again.' }]);
});
