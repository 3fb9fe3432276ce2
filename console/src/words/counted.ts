import { formatting } from './formatting.ts';

/** A number with its noun: "1 stream", "2 streams". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatting.number(count)} ${count === 1 ? one : many}`;
}
