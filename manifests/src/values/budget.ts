/*
 * What one evaluation may cost. A template is written by the author of a manifest, and the values that it works on come
 * from a customer or an API: neither may make it run for ever or fill the memory. Evaluations are synchronous, so one
 * count is enough.
 */
import { TemplateError } from './template-error.ts';

const maxSteps = 1_000_000;
/** Characters and items that an evaluation may make. */
const maxMade = 10_000_000;
/** As deep as a template or a value may be nested. */
export const maxDepth = 100;

let steps = 0;
let made = 0;

export function startBudget(): void {
  steps = 0;
  made = 0;
}

export function spendStep(count = 1): void {
  steps += count;
  if (steps > maxSteps) throw new TemplateError('limit', 'The template takes too many steps');
}

export function spendMade(count: number): void {
  made += count;
  if (made > maxMade) throw new TemplateError('limit', 'The template makes too much text');
}
