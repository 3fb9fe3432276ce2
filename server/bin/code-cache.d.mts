/** Writes the compiled code of a bundled CommonJS program beside it. */
export function writeCodeCache(program: string, kind?: 'service' | 'commands'): Promise<void>;
