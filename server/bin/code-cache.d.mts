/** Writes the compiled code of a bundled CommonJS program beside it. */
export function writeCodeCache(program: string): Promise<void>;
/** The same for a bundled connector, with the options that connectors are started with. */
export function writeCodeCacheOfConnector(file: string): Promise<void>;
