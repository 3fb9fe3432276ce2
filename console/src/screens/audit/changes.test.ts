import { expect, it } from 'vitest';
import { changesOf } from './changes.ts';

it('pairs what was with what is, path by path', () => {
  expect(
    changesOf([
      { op: 'test', path: '/name', value: 'a' },
      { op: 'replace', path: '/name', value: 'b' },
      { op: 'add', path: '/tags', value: ['x'] },
      { op: 'test', path: '/old', value: null },
      { op: 'remove', path: '/old' },
    ]),
  ).toEqual([
    { path: '/name', before: 'a', after: 'b' },
    { path: '/tags', after: ['x'] },
    { path: '/old', before: null },
  ]);
});
