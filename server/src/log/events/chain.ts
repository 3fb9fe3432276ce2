/**
 * The hash chain of the audit trail. Each entry has the hash of itself and of the hash before, so nobody can change, drop,
 * move or add an entry without changing every hash after it. The hash is over the entry as `GET /api/v1/audit-events`
 * shows it, in the canonical form of RFC 8785: anybody can compute it.
 *
 * What an entry says of persons is not in the hash. A salted commitment to each such field is. So the field can be erased
 * later, or withheld, and the chain stays valid; and the commitment alone does not let anybody guess the field.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { LogEntryFacts, LogPendingRow, LogPersonalRow } from '../../kernel/db/tables.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { canonicalJson } from './canonical-json.ts';

/** Before the first entry. */
export const genesisHash = '0'.repeat(64);

export type PersonalField = LogPersonalRow['field'];
export type Commitments = Partial<Record<PersonalField, string>>;

/** An entry as it is hashed. */
export interface ChainedEntry {
  version: 1;
  organization_id: string;
  position: number;
  event_position: number | null;
  id: string;
  type: string;
  timestamp: string;
  sequenced_at: string;
  outcome: string;
  actor: { kind: string; id: string | null; name: string | null };
  workspace_id: string | null;
  workspace_name: string | null;
  request_id: string | null;
  trace_id: string | null;
  data: Record<string, unknown>;
  commitments: Commitments;
  previous_hash: string;
}

interface Placement {
  trail_position: number;
  position: number | null;
  sequenced_at: number;
  commitments: string | null;
}

export function chainedEntry(row: LogEntryFacts & Placement, previousHash: string): ChainedEntry {
  return {
    version: 1,
    organization_id: row.organization_id,
    position: row.trail_position,
    event_position: row.position,
    id: row.id,
    type: row.type,
    timestamp: isoTime(row.recorded_at),
    sequenced_at: isoTime(row.sequenced_at),
    outcome: row.outcome,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    workspace_id: row.workspace_id,
    workspace_name: row.workspace_name,
    request_id: row.request_id,
    trace_id: row.trace_id,
    data: JSON.parse(row.data),
    commitments: row.commitments === null ? {} : JSON.parse(row.commitments),
    previous_hash: previousHash,
  };
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** The values stored beside the entry, and their commitments in the entry. */
export function commitTo({
  id,
  organization_id,
  patch,
  personal,
}: Pick<LogPendingRow, 'id' | 'organization_id' | 'patch' | 'personal'>): {
  rows: LogPersonalRow[];
  commitments: string | null;
} {
  if (patch === null && personal === null) return { rows: [], commitments: null };
  const values: Record<string, unknown> = { ...(personal !== null && JSON.parse(personal)) };
  if (patch !== null) values.patch = JSON.parse(patch);
  const rows: LogPersonalRow[] = [];
  const commitments: Commitments = {};
  for (const [name, value] of Object.entries(values)) {
    const field = name as PersonalField;
    const salt = randomBytes(16).toString('base64url');
    commitments[field] = commitmentOf(salt, value);
    rows.push({ entry_id: id, field, organization_id, salt, value: JSON.stringify(value) });
  }
  return { rows, commitments: JSON.stringify(commitments) };
}

export function commitmentOf(salt: string, value: unknown): string {
  return hashOf([salt, value]);
}
