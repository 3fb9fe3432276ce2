import { typeError } from './values.ts';

export type Kwargs = ReadonlyMap<string, unknown>;
export const noKwargs: Kwargs = new Map();

/**
 * Orders the arguments of a call by parameter. Parameters from number `required` on are optional, and then undefined in
 * JavaScript's sense. Throws Python's type errors.
 */
export function bindArguments(
  name: string,
  parameters: readonly string[],
  required: number,
  args: readonly unknown[],
  kwargs: Kwargs,
): unknown[] {
  if (args.length > parameters.length) {
    throw typeError(`${name}() takes ${parameters.length} arguments but ${args.length} were given`);
  }
  const bound = [...args];
  for (const [key, value] of kwargs) {
    const at = parameters.indexOf(key);
    if (at === -1) throw typeError(`${name}() got an unexpected keyword argument '${key}'`);
    if (at < args.length) throw typeError(`${name}() got multiple values for argument '${key}'`);
    bound[at] = value;
  }
  for (let at = 0; at < required; at++) {
    if (bound[at] === undefined) throw typeError(`${name}() missing required argument '${parameters[at]}'`);
  }
  return bound;
}
