/*
 * Loads a module that is not part of the program. A separate file, because `import()` fails in files that run from the
 * build's code cache (server/bin/compiled-program.js).
 */
export type ImportModule = (url: string) => Promise<Record<string, unknown>>;

export const importModule: ImportModule = (url) => import(url);
