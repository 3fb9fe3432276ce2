export function buildEmbed(to?: { packageFolder?: string; scriptFile?: string }): Promise<void>;
export function buildScript(scriptFile: string): Promise<void>;
