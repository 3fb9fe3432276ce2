/** The limits of a workspace: its own, and the organization's where it has none. */
import {
  type PutQuotasRequest,
  type PutWorkspaceQuotasRequest,
  type Quotas,
  quotaNames,
} from '@inlay/contract/tenancy/quotas';
import type { Db } from '../../kernel/db/open.ts';
import * as store from './quotas.store.ts';

/** Limits by name. Null is no limit; what is left out is not said here. */
export type Given = PutWorkspaceQuotasRequest;

const nothing: Given = {};

/** What is set, without what is left out, in one order. */
export function readGiven(request: PutQuotasRequest | PutWorkspaceQuotasRequest): Given {
  return Object.fromEntries(quotaNames.flatMap((name) => (request[name] === undefined ? [] : [[name, request[name]]])));
}

export const parse = (limits: string | undefined): Given => (limits === undefined ? nothing : JSON.parse(limits));

export function combine(organization: Given, workspace: Given): Quotas {
  const all = quotaNames.map((name) => {
    const own = workspace[name];
    return [name, own === undefined ? (organization[name] ?? null) : own];
  });
  return Object.fromEntries(all) as Quotas;
}

/** What a workspace may have: its own limits, and the organization's where it has none. */
export async function limitsOf(db: Db, organizationId: string, workspaceId: string): Promise<Quotas> {
  const found = await store.findLimits(db, organizationId, workspaceId);
  return combine(parse(found.get(organizationId)), parse(found.get(workspaceId)));
}

/** A workspace is warned when it has used this much of a limit. */
const warningShare = 0.8;

/** Undefined while there is enough left. */
export function levelOf(used: number, limit: number): 'warning' | 'reached' | undefined {
  if (used >= limit) return 'reached';
  return used >= limit * warningShare ? 'warning' : undefined;
}
