/** The texts of manifests: each is kept once, sealed, however many definitions have it. */
import { createHash } from 'node:crypto';
import type { ConnectorSpecification } from '@inlay/protocol/protocol';
import type { Db } from '../db/open.ts';
import * as manifests from './manifests.store.ts';

interface Sealer {
  seal(text: string, context: string): string;
  open(sealed: string, context: string): string;
}

const contextOf = (hash: string) => `manifest ${hash}`;

export function hashOf(manifest: string): string {
  return createHash('sha256').update(manifest).digest('hex');
}

export interface ReadManifest {
  /** As JSON in one line. */
  manifest: string;
  specification: ConnectorSpecification;
}

/** Call in the transaction that stores the reference. */
export async function keepManifest(sealer: Sealer, tx: Db, { manifest, specification }: ReadManifest): Promise<string> {
  const hash = hashOf(manifest);
  await manifests.putManifest(tx, {
    hash,
    manifest: sealer.seal(manifest, contextOf(hash)),
    specification: JSON.stringify(specification),
  });
  return hash;
}

/** Undefined for a text that is not kept. A text that is kept was read before, so it can be used. */
export async function findRead(db: Db, manifest: string): Promise<ReadManifest | undefined> {
  const kept = await manifests.findManifest(db, hashOf(manifest));
  return kept && { manifest, specification: JSON.parse(kept.specification) };
}

/** As one line of JSON. */
export async function readManifest(sealer: Sealer, db: Db, hash: string): Promise<string> {
  const kept = await manifests.findManifest(db, hash);
  if (!kept) throw new Error(`manifest ${hash} is missing`);
  return sealer.open(kept.manifest, contextOf(hash));
}

/** After what referred to it is gone, in the same transaction. */
export const forgetManifest = manifests.deleteUnusedManifest;

/** Returns any of them, as stored. */
export async function findSealedManifest(db: Db): Promise<string | undefined> {
  return (await manifests.listManifests(db, 1))[0]?.manifest;
}

/** Seals all texts with the key that the sealer seals with now. */
export async function resealManifests(sealer: Sealer, tx: Db): Promise<void> {
  for (const { hash, manifest } of await manifests.listManifests(tx)) {
    const opened = sealer.open(manifest, contextOf(hash));
    await manifests.replaceManifestText(tx, hash, sealer.seal(opened, contextOf(hash)));
  }
}
