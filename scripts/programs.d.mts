export function withLinkedFolders(folders: string[], programs: string[]): string[];
export function findProgram(program: string, folders: string[]): string | undefined;
export function pathFolders(): string[];
export function findOrInstall<Found>(
  find: () => Found | undefined,
  options: { install: boolean; packages: string[] },
): Promise<Found | undefined>;
export function findSystemProgram(program: string, name?: string): Promise<string>;
