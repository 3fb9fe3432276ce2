export function withLinkedFolders(folders: string[], programs: string[]): string[];
export function findProgram(program: string, folders: string[]): string | undefined;
