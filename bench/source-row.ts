/* A workspace in which a benchmark records sources as a request would: with the workspace held. */
import { randomUUID } from 'node:crypto';
import { organizationId } from './dataset.ts';
import { type Db, holdLiveWorkspace, insertSource, type Store, seedPipelines } from './product.ts';

/** Who may read all of the log. */
const all = { types: undefined, since: undefined };
export const everybody = { organizationId, workspaceId: undefined, isCustomer: false, ...all };

export async function makeWorkspace(store: Store) {
  const { seeded, ...ids } = await seedPipelines(store, { organizationId, workspaces: 1, jobsEach: 0 });
  const workspaceId = seeded[0]?.workspaceId ?? '';
  const owner = { organizationId, workspaceId, templateId: ids.sourceTemplateId, definitionId: ids.definitionId };
  return {
    workspaceId,
    sourceTemplateId: ids.sourceTemplateId,
    /** Gives the id of the source; `besides` runs in the same transaction. */
    addSource: (besides: (tx: Db, id: string) => Promise<unknown> = async () => {}) =>
      store.transaction(async (tx) => {
        await holdLiveWorkspace(tx, organizationId, workspaceId);
        const id = randomUUID();
        await besides(tx, id);
        const content = { name: id, slug: id, credentialId: null, sealedConfig: '' };
        await insertSource(tx, { id, ...owner, ...content, templateVersion: 1, definitionVersion: 0 });
        return id;
      }),
  };
}
