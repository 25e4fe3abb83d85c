export function installPackages(folder: string, why?: string): boolean;
export function hasPackages(folder: string): boolean;
