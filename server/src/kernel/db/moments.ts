/** Moments as the database's clock has them, so that replicas whose clocks disagree agree on leases and order. */
import { sql } from 'kysely';

export const now = sql<number>`now_ms()`;

/** For the end of something that began at this time: the clock may have been set back meanwhile. */
export const nowOrAt = (column: string) =>
  sql<number>`case when now_ms() > ${sql.ref(column)} then now_ms() else ${sql.ref(column)} end`;

export const fromNow = (ms: number) => sql<number>`now_ms() + ${sql.lit(Math.round(ms))}`;
