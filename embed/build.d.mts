export function buildPackage(packageFolder: string): Promise<void>;
export function buildServed(servedFolder: string): Promise<void>;
export function buildScript(scriptFile: string): Promise<void>;
export function pack(folder: string): Promise<string>;
export function readAsOne(files: string[], read: (file: string) => Promise<string>): Promise<string>;
export function emitTypes<Result>(
  project: string,
  work: (read: (file: string) => Promise<string>) => Promise<Result>,
): Promise<Result>;
