/** The form of operator tokens: recognizable by scanners, and refused without a look-up when mistyped. */
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const prefix = 'inlay_op_';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 43;
const checksumLength = 6;
const form = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

export function newOperatorSecret(): string {
  const random = Array.from({ length: randomLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  return prefix + random + checksum(random);
}

/** False only for a token that claims to be ours by its prefix and is not well formed. */
export function isPlausible(token: string): boolean {
  if (!token.startsWith(prefix)) return true;
  if (!form.test(token)) return false;
  const random = token.slice(prefix.length, -checksumLength);
  return token.slice(-checksumLength) === checksum(random);
}

export function hashOf(token: string): string {
  return hash('sha256', token, 'hex');
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
