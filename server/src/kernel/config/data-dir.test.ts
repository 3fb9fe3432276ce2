import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openDataDir, openExistingDataDir } from './data-dir.ts';

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'inlay-data-dir-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

it('is made with all directories above it, for its owner only', () => {
  const directory = join(temporaryDirectory(), 'a', 'b');
  openDataDir(directory);
  expect(statSync(directory).isDirectory()).toBe(true);
  expect(modeOf(directory)).toBe('700');
});

it('makes a file once, for its owner only, and reads it from then on', () => {
  const directory = temporaryDirectory();
  expect(openDataDir(directory).readOrCreate('key', () => 'first')).toBe('first');
  expect(openDataDir(directory).readOrCreate('key', () => 'second')).toBe('first');
  expect(readFileSync(join(directory, 'key'), 'utf8')).toBe('first');
  expect(modeOf(join(directory, 'key'))).toBe('600');
});

it('leaves nothing else behind', () => {
  const directory = temporaryDirectory();
  openDataDir(directory).readOrCreate('key', () => 'x');
  expect(readdirSync(directory)).toEqual(['key']);
});

it('agrees with another process that made the file at the same moment', () => {
  const directory = temporaryDirectory();
  const value = openDataDir(directory).readOrCreate('key', () => {
    writeFileSync(join(directory, 'key'), 'theirs');
    return 'ours';
  });
  expect(value).toBe('theirs');
  expect(readdirSync(directory)).toEqual(['key']);
});

it('knows its paths', () => {
  const directory = temporaryDirectory();
  expect(openDataDir(directory).path('inlay.db')).toBe(join(directory, 'inlay.db'));
});

it('replaces a file by another one, for its owner only', () => {
  const directory = temporaryDirectory();
  const dataDir = openDataDir(directory);
  dataDir.readOrCreate('key', () => 'first');
  dataDir.replace('key', 'second');
  expect(dataDir.readOrCreate('key', () => 'third')).toBe('second');
  expect(modeOf(join(directory, 'key'))).toBe('600');
  expect(readdirSync(directory)).toEqual(['key']);
});

it('says what is in the way when a file is', () => {
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, '');
  expect(() => openDataDir(file)).toThrow(`directory ${file}: ${file} is a file`);
  const below = join(file, 'below');
  expect(() => openDataDir(below)).toThrow(`directory ${below}: ${file} is a file`);
});

it('is left alone by those who only read', () => {
  const directory = temporaryDirectory();
  const missing = join(directory, 'data');
  const make = () => 'made';
  expect(() => openExistingDataDir(missing).readOrCreate('key', make)).toThrow(`at ${missing}. Set INLAY_DATA_DIR`);
  expect(() => openExistingDataDir(directory).readOrCreate('key', make)).toThrow(
    `${join(directory, 'key')} is missing`,
  );
  expect(readdirSync(directory)).toEqual([]);
  openDataDir(directory).readOrCreate('key', () => 'first');
  expect(openExistingDataDir(directory).readOrCreate('key', make)).toBe('first');
});
