export function buildPackage(packageFolder: string): Promise<void>;
export function buildServed(servedFolder: string): Promise<void>;
