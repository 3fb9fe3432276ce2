export interface Process {
  id: string;
  pid: number;
  parent: number;
  ticks: number;
}
export function parseStat(stat: string): Process;
export function createTally(root: number): { look(processes: Process[]): void; seconds(): number };
export function countCoreSeconds(): () => number | undefined;
