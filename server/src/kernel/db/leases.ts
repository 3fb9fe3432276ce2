/**
 * Leases: a row belongs to one worker until a time by the database's clock, whatever the clocks of the replicas say. A
 * worker that dies leaves its row to others when the lease has run out. A worker writes what it did only where the row
 * still has its lease.
 */
import { sql } from 'kysely';
import { fromNow } from './moments.ts';

/** Takes or renews the lease. */
export const leaseFor = (leaseId: string, leaseMs: number) => ({ lease_id: leaseId, lease_until: fromNow(leaseMs) });

/** Gives the lease back: nobody has to wait until it has run out. */
export const noLease = { lease_id: null, lease_until: 0 } as const;

/** Whether the worker may have the lease: it has run out, or is the worker's own. */
export const isFreeFor = (leaseId: string) => sql<boolean>`(lease_until <= now_ms() or lease_id = ${leaseId})`;
