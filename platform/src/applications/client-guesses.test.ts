import { expect, test } from 'vitest';
import { ClientGuesses } from './client-guesses.ts';

function start() {
  const clock = { time: 0 };
  const limit = new ClientGuesses({ elapsed: () => clock.time });
  const guess = (address: string, knowsClient = true) => ({ address, knowsClient });
  const wrong = (address: string, times: number, knowsClient = true) => {
    for (let count = 0; count < times; count++) limit.recordWrong(guess(address, knowsClient));
  };
  const wait = (address: string, knowsClient = true) => limit.waitSeconds(guess(address, knowsClient));
  return { clock, limit, guess, wrong, wait };
}

test('an address guesses ten times in a minute', () => {
  const { clock, wrong, wait } = start();
  clock.time = 5_000;
  wrong('192.0.2.1', 9);
  expect(wait('192.0.2.1')).toBeUndefined();
  wrong('192.0.2.1', 1);
  expect(wait('192.0.2.1')).toBe(60);
  expect(wait('192.0.2.2')).toBeUndefined();
  clock.time += 59_500;
  expect(wait('192.0.2.1')).toBe(1);
  clock.time += 500;
  expect(wait('192.0.2.1')).toBeUndefined();
});

test('a caller without the client id keeps nobody with it out, not even behind the same proxy', () => {
  const { wrong, wait } = start();
  wrong('192.0.2.1', 1_000, false);
  expect(wait('192.0.2.1', false)).toBe(60);
  expect(wait('192.0.2.1')).toBeUndefined();
});

test('many addresses together guess a hundred times in a minute; an address that was right stays welcome', () => {
  const { clock, limit, guess, wrong, wait } = start();
  limit.recordRight(guess('192.0.2.200'));
  for (let host = 1; host <= 100; host++) wrong(`192.0.2.${host}`, 1);
  expect(wait('198.51.100.1')).toBe(60);
  expect(wait('192.0.2.200')).toBeUndefined();
  expect(wait('198.51.100.1', false)).toBeUndefined();
  clock.time += 24 * 3_600_000;
  for (let host = 1; host <= 100; host++) wrong(`192.0.2.${host}`, 1);
  expect(wait('192.0.2.200')).toBe(60);
});

test.each([
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::1'],
  ['2001:DB8::1', '2001:db8:0:0:ffff::'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::2'],
])('%s counts as %s', (one, other) => {
  const { wrong, wait } = start();
  wrong(one, 10);
  expect(wait(other)).toBe(60);
  expect(wait('2001:db8:1:3::1')).toBeUndefined();
});
