export const guards: Record<string, [file: string, guard: string, instead: string][]>;
export function loadSimulation(without?: string): Promise<typeof import('../server/test/simulation/main.ts')>;
