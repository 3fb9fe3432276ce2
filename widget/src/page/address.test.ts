import { expect, it } from 'vitest';
import { readPage } from './address.ts';

const search = '?workspaceId=w&allowedOrigin=https%3A%2F%2Fapp.example.com&sig=k.m';

it('finds the token in the fragment and the origin in the query', () => {
  expect(readPage(search, '#aa.bb-b.c_c')).toEqual({
    token: 'aa.bb-b.c_c',
    allowedOrigin: 'https://app.example.com',
    mode: 'plain',
    renews: false,
    locales: [],
    theme: undefined,
    wish: undefined,
    signInId: undefined,
    isView: false,
  });
});

it('knows from the signed part alone that an operator only looks', () => {
  expect(readPage(`${search}&view=true`, '#t.o.k').isView).toBe(true);
  expect(readPage(search, '#t.o.k&view=true').isView).toBe(false);
});

it('lets the fragment win over the query', () => {
  const page = readPage(
    `${search}&theme=${encodeURIComponent('{"radius":1}')}&locale=fr`,
    `#t.o.k&mode=inline&locale=de-AT&theme=${encodeURIComponent('{"radius":2}')}`,
  );
  expect(page).toMatchObject({ mode: 'inline', locales: ['de-AT', 'fr'], theme: '{"radius":2}' });
});

it('knows what the page wants to open on', () => {
  expect(readPage(search, '#t.o.k&template=a').wish).toEqual({ template: 'a', source: undefined });
  expect(readPage(search, '#t.o.k&source=b').wish).toEqual({ template: undefined, source: 'b' });
});

it('knows which sign-in to continue with, and takes nothing else for the id of one', () => {
  const id = '6e0f3a5d-94a8-4d6c-8c41-7a3c1f1d2b90';
  expect(readPage(search, `#t.o.k&sign_in=${id}`).signInId).toBe(id);
  expect(readPage(search, `#&mode=inline&sign_in=${id}`)).toMatchObject({ signInId: id, mode: 'inline' });
  for (const bad of ['', '../sources', `${id}x`, `${id}%2f..`]) {
    expect(readPage(search, `#t.o.k&sign_in=${bad}`).signInId, bad).toBeUndefined();
  }
});

it('knows whether the page gets another token automatically', () => {
  expect(readPage(search, '#t.o.k&mode=modal&renews=1').renews).toBe(true);
  expect(readPage(search, '#t.o.k&mode=modal').renews).toBe(false);
});

it.each(['', '#', '#&mode=modal', '#mode=modal', '#<script>'])('finds no token in %j', (hash) => {
  expect(readPage(search, hash).token).toBeUndefined();
});

it.each(['', '?allowedOrigin=*', '?allowedOrigin=null', '?allowedOrigin=javascript:x', '?allowedOrigin=https://a.b/c'])(
  'talks to nobody when the query is %j',
  (query) => {
    expect(readPage(query, '#t').allowedOrigin).toBeUndefined();
  },
);

it('writes the origin as browsers do in messages', () => {
  expect(readPage('?allowedOrigin=https://app.example.com:443', '').allowedOrigin).toBe('https://app.example.com');
});

it('takes an unknown mode for a plain frame', () => {
  expect(readPage(search, '#t&mode=fullscreen').mode).toBe('plain');
});
