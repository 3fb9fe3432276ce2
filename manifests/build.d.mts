export function buildPackage(packageFolder: string): Promise<string>;
