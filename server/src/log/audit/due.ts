/** When a trail is to be signed. */
import { sql } from 'kysely';

/**
 * Something came after the last checkpoint, beyond the event that tells of it; and the last checkpoint is old enough, or of
 * a clock that was ahead. Before there is a chain there is nothing to sign.
 */
export const isDue = (everyMs: number) => sql<boolean>`
  hash is not null
  and trail_position > checkpoint_position + (case when checkpoint_position > 0 then 1 else 0 end)
  and (checkpoint_at <= now_ms() - ${sql.lit(everyMs)} or checkpoint_at > now_ms())`;

/** Something came after the last checkpoint, if only the event that tells of it. */
export const isBehind = sql<boolean>`hash is not null and trail_position > checkpoint_position`;
