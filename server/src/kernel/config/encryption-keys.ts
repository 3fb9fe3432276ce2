/**
 * The deployment's encryption keys: those of the environment, or those in the data directory, one per line. The first
 * key seals; each key can open.
 *
 * What always holds: a key file is written for the first secret that is sealed, never to open one. A running process
 * follows the files, so a key that another process puts there is used from the next secret on. A new key is known
 * everywhere before it seals anything (`encryption.key.next`), and an old key is removed only after nothing is sealed
 * with it and nobody uses it any more.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { OperatorError } from '../errors.ts';
import { createSealer, keyIdOf, type Sealer } from '../sealing.ts';
import type { Secrets } from './config.ts';
import type { DataDir } from './data-dir.ts';

const file = 'encryption.key';
const nextFile = `${file}.next`;
/** Ids of the keys that rotations have removed. */
const replacedFile = `${file}.replaced`;
const newKey = () => randomBytes(32).toString('base64');

export function openSealer(secrets: Secrets, dataDir: Pick<DataDir, 'path' | 'readOrCreate'>): Sealer {
  const [current, ...former] = secrets.encryptionKeys ?? [];
  if (current) return createSealer(current, ...former);
  let version: string | undefined;
  let known: Sealer | undefined;

  /** Undefined before the first secret. Keys that are in memory outlive their file. */
  function read(): Sealer | undefined {
    const found = versionOf(dataDir);
    if (found === version || found === undefined) return known;
    const [first, ...others] = [...readLines(dataDir, file), ...readLines(dataDir, nextFile)].map(decode);
    if (!first?.length) {
      if (known) return known;
      throw new OperatorError(`The file ${dataDir.path(file)} is empty. Restore it from a backup.`);
    }
    version = found;
    const read = createSealer(first, ...others);
    const descent = [...read.keyIds(), ...readLines(dataDir, replacedFile)];
    // A file that no rotation has made of the known keys was put there by mistake.
    if (!known || descent.some((id) => known?.keyIds().includes(id))) known = read;
    return known;
  }

  function readOrMake(): Sealer {
    const sealer = read();
    if (sealer) return sealer;
    dataDir.readOrCreate(file, newKey);
    return readOrMake();
  }

  return {
    seal: (secret, context) => readOrMake().seal(secret, context),
    fingerprint: (secret, context) => readOrMake().fingerprint(secret, context),
    isCurrent: (sealed) => read()?.isCurrent(sealed) ?? false,
    keyIds: () => read()?.keyIds() ?? [],
    open(sealed, context) {
      // On a network volume, the attributes of a file may be older than its content.
      if (!read()?.keyIds().includes(keyIdOf(sealed))) version = undefined;
      const sealer = read();
      if (sealer) return sealer.open(sealed, context);
      throw new OperatorError(
        `The encryption key is missing: ${dataDir.path(file)} does not exist and INLAY_ENCRYPTION_KEY is not set. Restore the key that this database was last used with.`,
      );
    },
  };
}

/** What has to be true of everybody else before the next step of a rotation. Each throws when it does not come true. */
export interface RotationSteps {
  /** Every process that runs can open what this key seals. */
  untilKnown(keyId: string): Promise<void>;
  /** Every process that runs seals with this key, and nothing that was sealed before is still on its way to the store. */
  untilUsed(keyId: string): Promise<void>;
  /** Seals everything again. Afterwards nothing is sealed with any other key. */
  reseal(sealer: Sealer): Promise<void>;
  /** A process with only an older key cannot return. */
  assertNoneLeft(keyId: string): Promise<void>;
}

/**
 * Re-encrypts everything with the key of the environment, or with a new key in the data directory, which is then the
 * only key there. If this is interrupted or a step fails, the remaining keys open everything, and the next attempt
 * continues with the same key.
 */
export async function replaceEncryptionKey(
  secrets: Secrets,
  dataDir: DataDir,
  { untilKnown, untilUsed, reseal, assertNoneLeft }: RotationSteps,
): Promise<void> {
  const sealer = openSealer(secrets, dataDir);
  if (!secrets.encryptionKeys) {
    const next = dataDir.readOrCreate(nextFile, newKey).trim();
    await untilKnown(idOf(next));
    const others = readLines(dataDir, file).filter((key) => key !== next);
    dataDir.replace(file, [next, ...others].join('\n'));
  }
  const [current = '', ...former] = sealer.keyIds();
  await untilUsed(current);
  await reseal(sealer);
  await assertNoneLeft(current);
  if (secrets.encryptionKeys) return;
  // Read again: another rotation may have added a key meanwhile.
  const kept = readLines(dataDir, file).filter((key) => !former.includes(idOf(key)));
  dataDir.replace(replacedFile, [...new Set([...readLines(dataDir, replacedFile), ...former])].join('\n'));
  dataDir.replace(file, kept.join('\n'));
  if (readLines(dataDir, nextFile).every((key) => idOf(key) === current)) {
    rmSync(dataDir.path(nextFile), { force: true });
  }
}

/** Whether a rotation of the key in the data directory has not ended. */
export function isRotating(secrets: Secrets, dataDir: Pick<DataDir, 'path'>): boolean {
  return !secrets.encryptionKeys && readLines(dataDir, file).length + readLines(dataDir, nextFile).length > 1;
}

/** The content of the key files that exist, by name: for a backup. */
export function readKeyFiles(dataDir: Pick<DataDir, 'path'>): Record<string, string> {
  const found = [file, nextFile, replacedFile].map((name) => [name, readLines(dataDir, name)] as const);
  return Object.fromEntries(
    found.filter(([, lines]) => lines.length > 0).map(([name, lines]) => [name, lines.join('\n')]),
  );
}

const decode = (key: string) => Buffer.from(key, 'base64');
const idOf = (key: string) => createSealer(decode(key)).keyIds()[0] ?? '';

function readLines(dataDir: Pick<DataDir, 'path'>, name: string): string[] {
  try {
    return readFileSync(dataDir.path(name), 'utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Changes whenever one of the files is replaced; undefined when there is no key. */
function versionOf(dataDir: Pick<DataDir, 'path'>): string | undefined {
  const [own, next] = [file, nextFile].map((name) => {
    const found = statSync(dataDir.path(name), { throwIfNoEntry: false });
    return found && `${found.ino} ${found.mtimeMs} ${found.size}`;
  });
  return own && `${own} ${next}`;
}
