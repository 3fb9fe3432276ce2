export function findChromium(options?: { install?: boolean; whole?: boolean }): Promise<string>;
export const chromiumArguments: string[];
