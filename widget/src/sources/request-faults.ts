/** Maps the service's faults in a request to the fields the customer sees. */
import type { Fault } from '@inlay/contract/errors';
import type { FieldFault } from '@inlay/ui/form/connector-form.tsx';

export interface RequestFaults {
  name: string | undefined;
  fields: FieldFault[];
  /** Messages that belong to no field. */
  others: string[];
}

/** `reenterSecret`: the message for a secret that must be entered again because its address changed. */
export function readRequestFaults(faults: readonly Fault[], reenterSecret: string): RequestFaults {
  const read: RequestFaults = { name: undefined, fields: [], others: [] };
  for (const { loc, msg, type } of faults) {
    const [part, field, ...path] = loc;
    if (part === 'body' && field === 'name') read.name ??= msg;
    else if (part === 'body' && field === 'source_config' && path.length > 0) {
      read.fields.push({ path: path.map(stepOf), message: type === 'value_error.secret' ? reenterSecret : msg });
    } else read.others.push(msg);
  }
  return read;
}

/** The service writes every step of a path as text; a step of digits is a place in a list. */
function stepOf(step: string): string | number {
  return /^\d+$/.test(step) ? Number(step) : step;
}
