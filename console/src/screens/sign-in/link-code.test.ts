import { expect, it } from 'vitest';
import { takeLinkCode } from './link-code.ts';

it('takes the code and removes it from the address', () => {
  const replaced: unknown[] = [];
  const history = {
    replaceState: (_state: unknown, _title: string, url?: string | URL | null) => void replaced.push(url),
  };
  const location = { hash: '#code=abc', pathname: '/console/sign-in', search: '' };
  expect(takeLinkCode(location, history)).toBe('abc');
  expect(replaced).toEqual(['/console/sign-in']);
  expect(takeLinkCode({ ...location, hash: '' }, history)).toBeUndefined();
  expect(replaced).toHaveLength(1);
});
