/**
 * Creates a source at most once. If the response is lost, the list of sources shows whether it was created, where that is
 * decidable.
 */
import type { CreateSourceRequest, Source } from '@inlay/contract/pipelines/sources';
import type { Api } from '../api/api.ts';
import { RequestFailure } from '../api/failure.ts';

/** Unknown whether the source exists. Retrying might create a second one. */
export class Unconfirmed extends Error {}

/** `known`: the ids of the sources there were before. */
export async function createSource(
  api: Api,
  request: CreateSourceRequest,
  known: readonly string[],
  signal: AbortSignal,
): Promise<Source> {
  try {
    return await api.createSource(request, signal);
  } catch (error) {
    if (!(error instanceof RequestFailure && error.isAmbiguous)) throw error;
    const created = await findCreated(api, request, known, signal);
    if (created) return created;
    throw error.kind === 'unavailable' ? error : new Unconfirmed('', { cause: error });
  }
}

async function findCreated(
  api: Api,
  request: CreateSourceRequest,
  known: readonly string[],
  signal: AbortSignal,
): Promise<Source | undefined> {
  try {
    const found = (await api.listSources(signal)).find(
      ({ id, name, summarized_source_template: template }) =>
        !known.includes(id) && name === request.name && template.id === request.source_template_id,
    );
    return found && (await api.getSource(found.id, signal));
  } catch (cause) {
    signal.throwIfAborted();
    throw new Unconfirmed('', { cause });
  }
}
