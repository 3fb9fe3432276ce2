/** Random texts. The bytes come from the system many at a time, which costs a fraction of asking for each text. */
import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4_096);
let used = pool.length;

/** Text of so many random bytes, none of which is used twice. */
export function randomText(bytes: number, encoding: 'hex' | 'base64url'): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const from = used;
  used += bytes;
  const text = pool.toString(encoding, from, used);
  // What became a secret of someone does not stay in memory.
  pool.fill(0, from, used);
  return text;
}
