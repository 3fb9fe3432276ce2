import { describe, expect, it } from 'vitest';
import { logOutput } from './output.ts';

/** A disk with room for so many bytes. */
function disk(roomBytes: number) {
  let content = '';
  const state = { roomBytes };
  const output = logOutput((bytes, from) => {
    const count = Math.min(state.roomBytes, bytes.length - from);
    if (count === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    state.roomBytes -= count;
    content += bytes.subarray(from, from + count).toString();
    return count;
  });
  return { output, state, lines: () => content.trim().split('\n') };
}

describe('The output of the log', () => {
  it('drops lines that find no room, and says how many with the next line that does', () => {
    const { output, state, lines } = disk(6);
    // Only part of the third line fits.
    for (const line of ['a\n', 'b\n', 'cccc\n', 'd\n']) output.write(line);
    state.roomBytes = 10_000;
    for (const line of ['e\n', 'f\n']) output.write(line);
    expect(lines()).toEqual(['a', 'b', 'cc', expect.any(String), 'e', 'f']);
    expect(JSON.parse(lines()[3] ?? '')).toMatchObject({ level: 'warn', droppedLines: 2, code: 'ENOSPC' });
  });

  it('writes a line whole that the system takes in parts', () => {
    let content = '';
    const output = logOutput((bytes, from) => {
      content += bytes.subarray(from, from + 3).toString();
      return Math.min(3, bytes.length - from);
    });
    output.write('{"name":"Zoë"}\n');
    expect(Buffer.from(content).length).toBeGreaterThan(0);
    expect(content.endsWith('}\n')).toBe(true);
  });

  it('waits for a slow reader, and not for ever', () => {
    let asked = 0;
    const busy = Object.assign(new Error('try again'), { code: 'EAGAIN' });
    const slow = logOutput((bytes, from) => {
      if (++asked < 3) throw busy;
      return bytes.length - from;
    });
    slow.write('a\n');
    expect(asked).toBe(3);
    const stuck = logOutput(() => {
      throw busy;
    });
    stuck.write('a\n');
  });

  it('keeps the order of lines that wait for the end of the turn and those that do not', async () => {
    const { output, lines } = disk(10_000);
    output.writeSoon('a\n');
    output.writeSoon('b\n');
    output.write('c\n');
    output.writeSoon('d\n');
    expect(lines()).toEqual(['a', 'b', 'c']);
    await new Promise(setImmediate);
    expect(lines()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('counts exactly the lines lost of those written together', async () => {
    const { output, state, lines } = disk(3);
    for (const line of ['a\n', 'b\n', 'c\n']) output.writeSoon(line);
    await new Promise(setImmediate);
    state.roomBytes = 10_000;
    output.write('d\n');
    expect(lines()).toEqual(['a', 'b', expect.any(String), 'd']);
    expect(JSON.parse(lines()[2] ?? '')).toMatchObject({ droppedLines: 2 });
  });
});
