import type { ConnectorSpecification } from '@inlay/contract/definitions';
import type { Logger } from 'pino';
import type { Db, Store } from '../db/open.ts';
import type { Journal } from '../events/journal.ts';
import type { Runtime } from '../runtime.ts';
import type { Sealer } from '../sealing.ts';
import type { Refreshes } from './refreshes.ts';

export interface ProviderRequest {
  method: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

/** How providers are reached. */
export interface ProviderNetwork {
  /** Follows no redirects, reads at most a mebibyte, and fails for an address that may not be reached. */
  request(url: string, request: ProviderRequest): Promise<{ status: number; contentType: string; body: string }>;
  /** Says why no secret may be sent to an address. */
  addressFault(url: URL): string | undefined;
}

/** What the rules of this folder need. */
export interface OAuthContext {
  store: Store;
  runtime: Runtime;
  log: Logger;
  sealer: Sealer;
  journal: Journal;
  network: ProviderNetwork;
  publicUrl: string;
  /** What this process refreshes at the moment. */
  refreshes: Refreshes;
  /** What the connector of a source definition asks for; undefined: the organization has no such definition. */
  findSpecification(organizationId: string, definitionId: string): Promise<ConnectorSpecification | undefined>;
  users: CredentialUsers;
  /** Counts refreshes, for metrics. */
  countRefresh(outcome: RefreshOutcome): void;
}

/** `ended`: the customer has to sign in again. `refused`: the operator has to mend something. */
export type RefreshOutcome = 'refreshed' | 'failed' | 'refused' | 'ended';

/** The sources that use credentials; they belong to pipelines/. */
export interface CredentialUsers {
  /** Before a credential changes its state: workspaces are always locked first. */
  hold(tx: Db, workspaceId: string): Promise<void>;
  /** After it has changed: how its sources do follows from it. */
  changed(journal: Journal, tx: Db, credential: { workspaceId: string; credentialId: string }): Promise<void>;
}
