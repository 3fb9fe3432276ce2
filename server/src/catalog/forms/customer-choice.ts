/** What a connection template lets customers choose for their own connections, as it is stored. */
import {
  type CustomerMayChange,
  type CustomerMayChangeRequest,
  nothingToChange,
} from '@inlay/contract/pipelines/connections';

/** Equal texts mean the same; null: nothing. */
export function mayChangeText({ streams = false, schedule = null }: CustomerMayChangeRequest = {}): string | null {
  if (!streams && schedule === null) return null;
  const limit = schedule && { shortest_minutes: schedule.shortest_minutes };
  return JSON.stringify({ streams, schedule: limit } satisfies CustomerMayChange);
}

export function mayChangeIn({ customer_may_change: text }: { customer_may_change: string | null }): CustomerMayChange {
  return text === null ? nothingToChange : JSON.parse(text);
}
