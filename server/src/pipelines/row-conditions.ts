/** Conditions on rows of this layer, for its stores and those of the layers above. */
import { sql } from 'kysely';

/** A row of `destinations` that some connection writes to, unless its source is being deleted. */
export const isUsed = sql<boolean>`exists (
  select 1 from connections
  where connections.workspace_id = destinations.workspace_id and connections.is_leaving = 0
    and connections.connection_template_id = destinations.connection_template_id and connections.deleted_at is null)`;

/** A row of `destinations` that the platform has, or may have because the outcome of its create is unknown. */
export const mayBeOnPlatform = sql<boolean>`(destinations.platform_id is not null or destinations.no_post_before > 0)`;

/** In the text of the statement, so that SQLite can compare it with the condition of the indexes. */
export const notLeaving = sql.lit(0);

/** Its workspace may be deactivated meanwhile, and its health not worked out yet: paused connections have no such time. */
export const isStaleNow = sql<boolean>`connections.stale_at <= now_ms()`;
