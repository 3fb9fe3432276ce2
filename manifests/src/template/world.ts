/* What a template is evaluated with. */
import type { DateTime } from '../dates/date-time.ts';

/** What a template may name, such as `config` and `record`. Plain data, as the kit reads JSON. */
export type Names = Readonly<Record<string, unknown>>;

/** The time that `now_utc()` and similar functions return. */
export type Clock = () => DateTime;

export interface World {
  names: Names;
  /** The `$parameters` of the component. */
  parameters: Names | undefined;
  clock: Clock;
}

/** Other names of the same slice. */
const aliases: Readonly<Record<string, string>> = { stream_interval: 'stream_slice', stream_partition: 'stream_slice' };

/** Undefined in JavaScript's sense if nothing has the name. */
export function findName({ names, parameters }: World, name: string): unknown {
  if (Object.hasOwn(names, name)) return names[name];
  if (name === 'parameters') return parameters;
  const alias = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
  return alias !== undefined && Object.hasOwn(names, alias) ? names[alias] : undefined;
}
