/** Forgets sessions, links and sign-ins of the console that ended long ago. */
import type { Store } from '../db/open.ts';
import { deleteEnded } from './housekeeping.worker.store.ts';

export const createConsoleHousekeeping = (store: Store) => (): Promise<void> => deleteEnded(store.db);
