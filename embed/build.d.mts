export function buildPackage(packageFolder: string): Promise<void>;
export function buildServed(servedFolder: string): Promise<void>;
export function buildScript(scriptFile: string): Promise<void>;
export function pack(folder: string): Promise<string>;
