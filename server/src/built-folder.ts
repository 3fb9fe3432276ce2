import { fileURLToPath } from 'node:url';

/** What the build has made, whether this file runs from its source or from the bundle beside it. */
export const builtFolder = fileURLToPath(new URL('../dist/', import.meta.url));
