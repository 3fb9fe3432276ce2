/** The encryption keys of a backup, sealed with the operator's passphrase: the backup alone reveals no secret. */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { shortestPassphrase } from '../../kernel/config/readers.ts';
import { OperatorError } from '../../kernel/errors.ts';

/** OWASP's recommendation for scrypt: 128 MiB and about half a second for each guess. */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

/** By file name in the data directory. */
export type KeyFiles = Record<string, string>;

export function readPassphrase(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new OperatorError(`Cannot read the passphrase from ${file}: ${(error as Error).message}`);
  }
  if (text.length >= shortestPassphrase) return text;
  throw new OperatorError(`The passphrase in ${file} is too short. Use at least ${shortestPassphrase} characters.`);
}

/** `context` identifies the backup, so the keys of one cannot replace those of another. */
export async function sealKeys(keys: KeyFiles, passphrase: string, context: string): Promise<string> {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipheriv('aes-256-gcm', await keyFrom(passphrase, salt), nonce).setAAD(Buffer.from(context));
  const sealed = [cipher.update(JSON.stringify(keys)), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([salt, nonce, ...sealed]).toString('base64');
}

export async function openKeys(text: string, passphrase: string, context: string): Promise<KeyFiles> {
  const bytes = Buffer.from(text, 'base64');
  try {
    const key = await keyFrom(passphrase, bytes.subarray(0, 16));
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(16, 28)).setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(-16));
    return JSON.parse(`${decipher.update(bytes.subarray(28, -16))}${decipher.final()}`);
  } catch {
    throw new OperatorError('The passphrase does not open the keys of this backup. Use the one it was made with.');
  }
}

function keyFrom(passphrase: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    scrypt(passphrase, salt, 32, cost, (error, key) => (error ? reject(error) : resolve(key))),
  );
}
