import { formatting } from './formatting.ts';

/** A number with the word that follows it: one stream, two streams. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatting.number(count)} ${count === 1 ? one : many}`;
}
