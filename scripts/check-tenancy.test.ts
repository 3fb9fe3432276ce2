import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { checkTenancy, exceptions, forgetsTenant, needlessException } from './check-tenancy.mjs';

const fixture = fileURLToPath(new URL('fixtures/tenancy', import.meta.url));
const repository = fileURLToPath(new URL('..', import.meta.url));
const serverNotes = 'server/src/notes/notes.store.ts';
const platformNotes = 'platform/src/notes/notes.store.ts';
const keys = 'server/src/keys/keys.store.ts';

it('finds every exported function of a store that takes no tenant, in both halves', () => {
  expect(checkTenancy(fixture, [])).toEqual([
    { file: keys, name: 'listKeys', words: forgetsTenant },
    { file: serverNotes, name: 'touchNote', words: forgetsTenant },
    { file: serverNotes, name: 'listNotes', words: forgetsTenant },
    { file: platformNotes, name: 'findNoteById', words: forgetsTenant },
  ]);
});

it('leaves exceptions alone, and names those that are not needed', () => {
  const reason = 'keys belong to all';
  const allowed = [
    { file: keys, names: ['listKeys'], reason },
    { file: serverNotes, names: ['touchNote', 'listNotes', 'countNotes'], reason },
    { file: platformNotes, names: ['findNoteById', 'gone'], reason },
  ];
  expect(checkTenancy(fixture, allowed)).toEqual([
    { file: serverNotes, name: 'countNotes', words: needlessException },
    { file: platformNotes, name: 'gone', words: needlessException },
  ]);
});

it('finds nothing in our own stores', () => {
  expect(checkTenancy(repository)).toEqual([]);
});

it('knows a reason for every exception', () => {
  for (const { file, reason } of exceptions) expect(reason, file).toMatch(/\w+ \w+/);
});
