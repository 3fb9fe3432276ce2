export function ends<T>(work: () => T): T;
