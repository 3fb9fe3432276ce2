/** An event as it is sent: `type`, `timestamp` and `data`, as Standard Webhooks asks for. */
import { isoTime } from '../../kernel/iso-time.ts';
import type { LoggedEvent } from './deliveries.store.ts';
import type { Message } from './sending.ts';

export function messageOf(event: LoggedEvent, dataOf: (event: LoggedEvent) => object): Message {
  const { id, type, recorded_at, trace_id } = event;
  return {
    id,
    body: JSON.stringify({ type, timestamp: isoTime(recorded_at), data: dataOf(event) }),
    traceId: trace_id,
  };
}
