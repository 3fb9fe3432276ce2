interface Surroundings {
  free: number;
  memory: number;
  mount: string | undefined;
}

export function folderInMemory(look?: () => Surroundings): string | undefined;
