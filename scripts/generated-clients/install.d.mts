export function installGenerators(): Promise<string>;
