export const generatorsFolder: string;
export const kitFolder: string;
export function installOwnPackages(folder: string): Promise<void>;
