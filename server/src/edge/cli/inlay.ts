/**
 * Where a command works: on the API of a running service if INLAY_URL is set, otherwise on the store of this machine.
 * A command names its operation once, with what the store does instead, and gets the same answer from both.
 */
import type { AnswerTo, PartsOf } from '@inlay/contract/requests';
import type { Store } from '../../kernel/db/open.ts';
import { type ApiClient, type ApiRoute, findApi } from './api-client.ts';
import { chosenOrganization, withStoreAsItIs } from './opened-store.ts';

export interface Here {
  store: Store;
  organizationId: string;
}

export interface Inlay {
  ask<R extends ApiRoute, T>(route: R, parts: PartsOf<R>, here: (place: Here) => Promise<T>): Promise<AnswerTo<R> | T>;
  now(): Promise<number>;
  /** Undefined on the store of this machine. */
  api: ApiClient | undefined;
  /** For what the API does in another way. */
  here: Here | undefined;
}

export async function withInlay(
  options: { organization?: string },
  work: (inlay: Inlay) => Promise<void>,
  withOwnStore = withStoreAsItIs,
): Promise<void> {
  const api = findApi(process.env, options.organization);
  if (api) {
    const now = () => Promise.resolve(api.now());
    return await work({ ask: (route, parts) => api.request(route, parts), now, api, here: undefined });
  }
  await withOwnStore(async (store) => {
    const here = { store, organizationId: await chosenOrganization(store, options) };
    await work({ ask: (_route, _parts, answer) => answer(here), now: () => store.now(), api: undefined, here });
  });
}

/** The cursor of the next page. The API returns it in a link. */
export function cursorOf(next: string | null | undefined): string | null {
  if (next === null || next === undefined) return null;
  return URL.canParse(next) ? new URL(next).searchParams.get('cursor') : next;
}
