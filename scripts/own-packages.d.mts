export const generatorsFolder: string;
export const kitFolder: string;
export function installOwnPackages(folder: string): Promise<void>;
export const nodeVersions: { version: number; binFolder: string }[];
