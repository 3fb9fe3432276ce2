export function findFirefox(options?: { install?: boolean }): Promise<string>;
