/** `name_contains`: literal, case-insensitive for all of Unicode, the same on both databases. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnBothDatabases } from '../support/databases.ts';

const path = '/api/v1/workspaces';

describeOnBothDatabases('name_contains', (kind) => {
  let app: TestApp;
  const names = [
    'Straße',
    'GROẞ',
    'Ὀδυσσεύς',
    'İstanbul',
    '300 \u212a', // Kelvin sign
    'Cafe\u0301 Noir',
    '100% natural',
    'snake_case',
    'back\\slash',
    "O'Brien [x] (y) *",
    'ЁЛКА',
    '𐐀 Deseret',
  ];
  beforeAll(async () => {
    app = await startTestApp(kind);
    await Promise.all(names.map((name) => app.workspaceId(name)));
  });
  afterAll(() => app.stop());

  it.each([
    ['ß is SS', 'STRASSE', ['Straße']],
    ['ß is ss', 'strasse', ['Straße']],
    ['ß is itself', 'straße', ['Straße']],
    ['ẞ is the capital of ß', 'straẞe', ['Straße']],
    ['ß finds the capital ẞ', 'groß', ['GROẞ']],
    ['SS finds the capital ẞ', 'gross', ['GROẞ']],
    ['Σ finds a final ς', 'ΣΕΎΣ', ['Ὀδυσσεύς']],
    ['a final ς finds σ', 'δυςς', ['Ὀδυσσεύς']],
    ['σ finds ς', 'εύσ', ['Ὀδυσσεύς']],
    ['İ finds itself', 'İSTANBUL', ['İstanbul']],
    ['İ is i with a dot above', 'i\u0307stanbul', ['İstanbul']],
    ['the rest of a name with İ', 'STANBUL', ['İstanbul']],
    ['k finds the Kelvin sign', '300 k', ['300 \u212a']],
    ['K finds the Kelvin sign', '300 K', ['300 \u212a']],
    ['a composed letter finds a decomposed one', 'CAF\u00c9', ['Cafe\u0301 Noir']],
    ['a decomposed letter finds it, too', 'cafe\u0301', ['Cafe\u0301 Noir']],
    ['a letter without its accent does not', 'cafe n', []],
    ['Cyrillic', 'ёлк', ['ЁЛКА']],
    ['beyond the basic plane', '𐐨 d', ['𐐀 Deseret']],
    ['% is a percent sign', '%', ['100% natural']],
    ['%% is two of them', '%%', []],
    ['_ is an underscore', '_', ['snake_case']],
    ['\\ is a backslash', '\\', ['back\\slash']],
    ["' is an apostrophe", "'", ["O'Brien [x] (y) *"]],
    ['brackets and stars are themselves', '[X] (Y) *', ["O'Brien [x] (y) *"]],
    ['nothing is a pattern', '.*', []],
  ])('%s', async (_rule, text, expected) => {
    const { status, body } = await app.request('GET', `${path}?name_contains=${encodeURIComponent(text)}`);
    expect(status).toBe(200);
    expect(body.data.map((row: { id: string; name: string }) => row.name)).toEqual(expected);
  });

  it('follows a rename', async () => {
    const id = await app.workspaceId('before the rename');
    await app.request('PUT', `${path}/${id}`, { body: { name: 'AFTER the rename' } });
    const { body } = await app.request('GET', `${path}?name_contains=after%20THE`);
    expect(body.data.map((row: { id: string; name: string }) => row.id)).toEqual([id]);
    expect((await app.request('GET', `${path}?name_contains=before`)).body.data).toEqual([]);
  });
});
