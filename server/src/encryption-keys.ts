/**
 * The deployment's encryption keys: those of the environment, or those in the data directory, one per line. The first
 * key seals; each key can open.
 */
import { randomBytes } from 'node:crypto';
import type { Secrets } from './config.ts';
import type { DataDir } from './data-dir.ts';
import { OperatorError } from './errors.ts';
import { createSealer, type Sealer } from './sealing.ts';

const file = 'encryption.key';
const newKey = () => randomBytes(32).toString('base64');

export function openSealer(secrets: Secrets, dataDir: DataDir): Sealer {
  return sealerOf(secrets.encryptionKeys ?? decode(readFile(dataDir)), dataDir);
}

/**
 * Seals everything with the key of the environment, or with a new key in the data directory, which is then the only key
 * there. If this is interrupted at any point, the keys in the file still open everything, and the next try finishes.
 */
export async function replaceEncryptionKey(
  secrets: Secrets,
  dataDir: DataDir,
  reseal: (sealer: Sealer) => Promise<void>,
): Promise<void> {
  if (secrets.encryptionKeys) return await reseal(sealerOf(secrets.encryptionKeys, dataDir));
  const key = newKey();
  const keys = [key, ...readFile(dataDir)];
  dataDir.replace(file, keys.join('\n'));
  await reseal(sealerOf(decode(keys), dataDir));
  dataDir.replace(file, key);
}

function readFile(dataDir: DataDir): string[] {
  return dataDir.readOrCreate(file, newKey).trim().split('\n');
}

function decode(keys: string[]): Buffer[] {
  return keys.map((key) => Buffer.from(key, 'base64'));
}

function sealerOf([current, ...former]: Buffer[], dataDir: DataDir): Sealer {
  if (!current?.length) {
    throw new OperatorError(`The file ${dataDir.path(file)} is empty. Restore it from a backup.`);
  }
  return createSealer(current, ...former);
}
