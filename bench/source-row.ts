/* A source as a request would record it, with its workspace held. */
import { randomUUID } from 'node:crypto';
import type { Db } from '../server/src/db/open.ts';
import { insertSource } from '../server/src/pipelines/sources.store.ts';

export interface SourcePlace {
  organizationId: string;
  workspaceId: string;
  sourceTemplateId: string;
  definitionId: string;
}

export async function addSource(tx: Db, place: SourcePlace): Promise<string> {
  const { organizationId, workspaceId, sourceTemplateId: templateId, definitionId } = place;
  const id = randomUUID();
  const owner = { organizationId, workspaceId, templateId, definitionId };
  const content = {
    name: id,
    slug: id,
    credentialId: null,
    sealedConfig: '',
    templateVersion: 1,
    definitionVersion: 0,
  };
  await insertSource(tx, { id, ...owner, ...content });
  return id;
}
