/** Where the service found fault with a request, in terms of the form the customer sees. */
import type { Fault } from '@inlay/contract/errors';
import type { FieldFault } from '../form/connector-form.tsx';

export interface RequestFaults {
  name: string | undefined;
  fields: FieldFault[];
  /** What belongs to no field. */
  others: string[];
}

/** `secretAnew`: what is said of a secret that does not go along to another address. */
export function readRequestFaults(faults: readonly Fault[], secretAnew: string): RequestFaults {
  const read: RequestFaults = { name: undefined, fields: [], others: [] };
  for (const { loc, msg, type } of faults) {
    const [part, field, ...path] = loc;
    if (part === 'body' && field === 'name') read.name ??= msg;
    else if (part === 'body' && field === 'source_config' && path.length > 0) {
      read.fields.push({ path: path.map(stepOf), message: type === 'value_error.secret' ? secretAnew : msg });
    } else read.others.push(msg);
  }
  return read;
}

/** The service writes every step as text; one of digits is a place in a list. */
function stepOf(step: string): string | number {
  return /^\d+$/.test(step) ? Number(step) : step;
}
