/*
 * Loads a module that is no part of the program. A file of its own, because `import()` fails in the files that run with the
 * compiled code that the build has kept (server/bin/compiled-program.js).
 */
export type ImportModule = (url: string) => Promise<Record<string, unknown>>;

export const importModule: ImportModule = (url) => import(url);
