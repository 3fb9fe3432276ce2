export function findChromium(options?: { install?: boolean }): Promise<string>;
export const chromiumArguments: string[];
