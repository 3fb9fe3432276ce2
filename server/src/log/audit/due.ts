/** When a trail is to be signed. */
import { sql } from 'kysely';

/**
 * There are entries after the last checkpoint besides its own event, and the checkpoint is old enough or came from a
 * clock that was ahead. Without a chain there is nothing to sign.
 */
export const isDue = (everyMs: number) => sql<boolean>`
  hash is not null
  and trail_position > checkpoint_position + (case when checkpoint_position > 0 then 1 else 0 end)
  and (checkpoint_at <= now_ms() - ${sql.lit(everyMs)} or checkpoint_at > now_ms())`;

/** There are entries after the last checkpoint, even if only its own event. */
export const isBehind = sql<boolean>`hash is not null and trail_position > checkpoint_position`;
