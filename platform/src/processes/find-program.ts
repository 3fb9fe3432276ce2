/** Which file a program is. */
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

/** As a shell finds it: by its path, or in one of the folders of PATH. Undefined where nothing can be run. */
export function findProgram(program: string, path: string | undefined): string | undefined {
  if (program.includes('/')) return isProgram(program) ? program : undefined;
  const folders = (path ?? '').split(':').filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).find(isProgram);
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
