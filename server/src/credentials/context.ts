/** What the rules of this folder need, and the one port through which they reach the sources above them. */
import type { Logger } from 'pino';
import type { Definitions } from '../catalog/definitions/definitions.ts';
import type { Cause } from '../kernel/cause.ts';
import type { Db, Store } from '../kernel/db/open.ts';
import type { OAuthFlowRow } from '../kernel/db/tables.ts';
import type { TokenOwner } from '../kernel/platform/token-owner.ts';
import type { Runtime } from '../kernel/runtime.ts';
import type { Sealer } from '../kernel/sealing.ts';
import type { Metrics } from '../kernel/telemetry/metrics.ts';
import type { Journal } from '../log/events/journal.ts';
import type { ProviderNetwork } from './provider/network.ts';
import type { Refreshes } from './tokens/refreshes.ts';

/** What it takes to record or end a credential in a transaction. */
export interface RecordContext {
  runtime: Runtime;
  sealer: Sealer;
  journal: Journal;
}

/** What it takes to read a credential and its client. */
export interface CredentialsContext extends RecordContext {
  store: Store;
  log: Logger;
}

export interface OAuthContext extends CredentialsContext {
  network: ProviderNetwork;
  publicUrl: string;
  /** What this process refreshes at the moment. */
  refreshes: Refreshes;
  definitions: Definitions;
  users: CredentialUsers;
  tokenOwner: TokenOwner;
  metrics: Metrics;
}

/** The sources that use credentials. They are above this folder: pipelines/sources/credential-users.ts implements this. */
export interface CredentialUsers {
  /** Before a credential changes its state: workspaces are always locked first. */
  hold(tx: Db, workspaceId: string): Promise<void>;
  /**
   * The addresses that a customer of these sources enters, where their connectors get something of the operator's. The
   * template says the same when it is made, but may be older than that rule.
   */
  openAddresses(credential: {
    organizationId: string;
    workspaceId: string;
    credentialId: string;
    templateId: string;
  }): Promise<string[]>;
  /** After it has changed: how its sources do follows from it. */
  changed(journal: Journal, tx: Db, credential: { workspaceId: string; credentialId: string }): Promise<void>;
  /** The customer has signed in again, and the platform has the previous tokens: its sources there are rewritten. */
  replaced(tx: Db, credential: { workspaceId: string; credentialId: string }): Promise<void>;
  /** Makes the source of a link that has connected, or connects it again. Never throws: the customer has signed in. */
  connectByLink(cause: Cause, flow: OAuthFlowRow): Promise<void>;
}
