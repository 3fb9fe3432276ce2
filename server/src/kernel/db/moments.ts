/** Moments as the database's clock has them, so that replicas whose clocks disagree agree on leases and order. */
import { sql } from 'kysely';

export const now = sql<number>`now_ms()`;

export const fromNow = (ms: number) => sql<number>`now_ms() + ${sql.lit(Math.round(ms))}`;
