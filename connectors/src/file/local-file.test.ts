import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/run-source.ts';
import { findLocalFiles, matches } from './local-file.ts';

/** An allowed folder with `a.csv`, `b.csv` and `sub/c.csv`, and next to it a secret file that is not allowed. */
function prepare() {
  const root = temporaryFolder();
  const allowed = join(root, 'allowed');
  mkdirSync(join(allowed, 'sub'), { recursive: true });
  mkdirSync(join(root, 'allowed-not'));
  for (const name of ['a.csv', 'b.csv', 'sub/c.csv', '.hidden.csv', 'd.txt']) writeFileSync(join(allowed, name), name);
  writeFileSync(join(root, 'secret.csv'), 'secret');
  writeFileSync(join(root, 'allowed-not', 'secret.csv'), 'secret');
  const read = async (path: string, dirs = [allowed]) => {
    const files = await findLocalFiles(path, dirs);
    const opened = await Promise.all(files.map((file) => file.open()));
    return Promise.all(opened.map((file) => (file ? text(file.body) : undefined)));
  };
  return { root, allowed, read };
}

const refusal = 'is not in an allowed folder. Choose a path in a folder that the operator allows.';

describe('a path', () => {
  test('leads to a file of an allowed folder', async () => {
    const { allowed, read } = prepare();
    expect(await read(`${allowed}/a.csv`)).toEqual(['a.csv']);
    expect(await read(`${allowed}/sub/../sub/./c.csv`)).toEqual(['sub/c.csv']);
    expect(await read(`${allowed}/a.csv`, ['/nowhere-else', allowed])).toEqual(['a.csv']);
  });

  test('with an asterisk leads to all files that match, sorted', async () => {
    const { allowed, read } = prepare();
    mkdirSync(join(allowed, 'folder.csv'));
    expect(await read(`${allowed}/*.csv`)).toEqual(['a.csv', 'b.csv']);
    expect(await read(`${allowed}/sub/*`)).toEqual(['sub/c.csv']);
    expect(await read(`${allowed}/.h*`)).toEqual(['.hidden.csv']);
    await expect(read(`${allowed}/*.json`)).rejects.toThrow(`${allowed}/*.json`);
  });

  test('is refused outside of the allowed folders, whether there is something or not', async () => {
    const { root, allowed, read } = prepare();
    for (const path of [
      `${root}/secret.csv`,
      `${root}/nothing.csv`,
      `${root}/*.csv`,
      `${allowed}/../secret.csv`,
      `${allowed}/../*`,
      `${allowed}-not/secret.csv`,
      allowed,
      '/etc/passwd',
      'a.csv',
      '../secret.csv',
    ]) {
      await expect(read(path), path).rejects.toThrow(`${path} ${refusal}`);
    }
  });

  test('is refused when a link on the way leads outside', async () => {
    const { root, allowed, read } = prepare();
    symlinkSync(join(root, 'secret.csv'), join(allowed, 'link.csv'));
    symlinkSync(root, join(allowed, 'up'));
    symlinkSync('../../allowed-not/secret.csv', join(allowed, 'sub', 'other.csv'));
    for (const path of [
      'link.csv',
      'up/secret.csv',
      'up/allowed/../secret.csv',
      'up/*.csv',
      'sub/other.csv',
      'l*.csv',
    ]) {
      await expect(read(join(allowed, path)), path).rejects.toThrow(refusal);
    }
  });

  test('may contain links that stay inside, and the allowed folder may be one', async () => {
    const { root, allowed, read } = prepare();
    symlinkSync('sub', join(allowed, 'also'));
    symlinkSync('a.csv', join(allowed, 'again.csv'));
    symlinkSync(allowed, join(root, 'linked'));
    expect(await read(`${allowed}/also/c.csv`)).toEqual(['sub/c.csv']);
    expect(await read(`${allowed}/again.csv`)).toEqual(['a.csv']);
    expect(await read(`${root}/linked/a.csv`, [join(root, 'linked')])).toEqual(['a.csv']);
  });

  test('to nothing, to a folder or to a pipe is explained', async () => {
    const { allowed, read } = prepare();
    execFileSync('mkfifo', [join(allowed, 'pipe')]);
    symlinkSync('circle', join(allowed, 'circle'));
    await expect(read(`${allowed}/no.csv`)).rejects.toThrow(`${allowed}/no.csv does not exist`);
    await expect(read(`${allowed}/no/*.csv`)).rejects.toThrow(`${allowed}/no does not exist`);
    await expect(read(`${allowed}/a.csv/b`)).rejects.toThrow(`${allowed}/a.csv/b does not exist`);
    await expect(read(`${allowed}/sub`)).rejects.toThrow(`${allowed}/sub is not a file`);
    await expect(read(`${allowed}/pipe`)).rejects.toThrow(`${allowed}/pipe is not a file`);
    await expect(read(`${allowed}/circle`)).rejects.toThrow(`${allowed}/circle cannot be opened`);
  });

  test('is refused where no folder is allowed, or the allowed one is gone', async () => {
    const { allowed, read } = prepare();
    await expect(read(`${allowed}/a.csv`, [])).rejects.toThrow(/folders .* not allowed/);
    await expect(read('/nowhere-at-all/a.csv', ['/nowhere-at-all'])).rejects.toThrow(
      '/nowhere-at-all/a.csv does not exist.',
    );
  });
});

describe('a version', () => {
  test('stays while the file does, and changes with its size or time', async () => {
    const { allowed } = prepare();
    const path = join(allowed, 'a.csv');
    const [file] = await findLocalFiles(path, [allowed]);
    if (!file) throw new Error('There is one.');
    const open = async (known?: string) => {
      const opened = await file.open(known);
      opened?.body.destroy();
      return opened?.version;
    };
    const first = await open();
    expect(first).toBeDefined();
    expect(await open(first)).toBeUndefined();
    utimesSync(path, 1000, 1000);
    const second = await open(first);
    expect(second).not.toBe(first);
    writeFileSync(path, 'longer than before');
    utimesSync(path, 1000, 1000);
    expect(await open(second)).not.toBe(second);
  });
});

describe('a pattern', () => {
  test.each([
    ['a.csv', '*.csv', true],
    ['a.csv', '*', true],
    ['a.csv', 'a*.csv', true],
    ['a.csv', '*a*.*csv*', true],
    ['a.csv', 'a.csv*', true],
    ['abcabc', 'a*bc', true],
    ['aba', 'ab*ba', false],
    ['a.csv', '*.json', false],
    ['axcsv', 'a.*', false],
    ['.a.csv', '*.csv', false],
    ['.a.csv', '.*', true],
    ['a+b.csv', 'a+*.csv', true],
    [`${'a'.repeat(250)}c`, `${'*a'.repeat(100)}*b`, false],
  ])('for %s, %s: %s', (name, pattern, isMatch) => {
    expect(matches(name, pattern)).toBe(isMatch);
  });
});
