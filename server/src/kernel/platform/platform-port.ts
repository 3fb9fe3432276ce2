/**
 * The platform as the rest of the service sees it: workspaces and what is in them (pipelines-port.ts) in our own words,
 * and one kind of failure for each thing that a caller must do next. One client implements it over HTTP
 * (platform-client.ts), for the bundled platform and for a hosted one.
 */
import type { ConnectorFailure, PipelinesPort, Written } from './pipelines-port.ts';
import type { WorkersPort } from './workers-port.ts';

export interface PlatformWorkspace {
  id: string;
  name: string;
  /** Seconds since the epoch, if the platform gives it. */
  createdAt?: number;
}

export interface NewPlatformWorkspace {
  organizationId: string;
  name: string;
  regionId: string;
}

/** What this platform can do beyond what every platform can, as far as we know. */
export interface PlatformTraits {
  /** The organizations that the credentials can see. */
  organizations: string[];
  /** Whether the platform shows which organization each workspace belongs to, so that we can recognize ours. */
  tellsApart: boolean;
  findsNamesBy: 'name filter' | 'internal listing' | 'reading all' | 'not known yet';
}

export interface LimitWritten extends Written {
  /** False: the platform does not support it. Hosted ones have no such request. */
  isKept: boolean;
}

/** All ids of organizations here are the platform's own. */
export interface PlatformPort extends PipelinesPort, WorkersPort {
  /** All live workspaces of the organization whose name is the same after NFC, oldest first where that is known. */
  findWorkspacesByName(organizationId: string, name: string): Promise<PlatformWorkspace[]>;
  /** Page by page, each id once. */
  listWorkspaces(organizationId: string): AsyncIterable<PlatformWorkspace[]>;
  /** Never retried by the client, because the platform has no idempotency keys. */
  createWorkspace(workspace: NewPlatformWorkspace): Promise<PlatformWorkspace>;
  renameWorkspace(id: string, name: string): Promise<Written>;
  /** No more syncs of the workspace run at the same time; null: as many as the platform allows. */
  limitSyncs(id: string, limit: number | null): Promise<LimitWritten>;
  /** A workspace that is gone already counts as deleted. */
  deleteWorkspace(id: string): Promise<void>;
  /** Proves that the platform answers and takes our credentials; gives the organizations they can see. */
  listOrganizations(): Promise<string[]>;
  traits(organizationId: string): Promise<PlatformTraits>;
  /**
   * Ends calls that only wait until a connector has answered, which may take minutes. They fail as unavailable; so do later
   * ones. For a service that stops.
   */
  endQuestions(): void;
  close(): Promise<void>;
}

/**
 * unavailable: certainly not applied, try later. throttled: certainly not applied, the platform asks for patience.
 * rejected: certainly not applied, trying again is useless. unauthorised: our credentials. not_found: no such thing.
 * unknown: it may have been applied, or may still be.
 */
export type PlatformFailure = 'unavailable' | 'throttled' | 'rejected' | 'unauthorised' | 'not_found' | 'unknown';

interface PlatformErrorOptions extends ErrorOptions {
  timedOut?: boolean;
  settled?: boolean;
  retryAfterSeconds?: number | undefined;
  isConflict?: boolean;
  isQueueFull?: boolean;
  reason?: ConnectorFailure | undefined;
}

export class PlatformError extends Error {
  readonly failure: PlatformFailure;
  readonly timedOut: boolean;
  /** False when a request that was sent may still take effect: this try of the call, or an earlier one. */
  readonly settled: boolean;
  readonly retryAfterSeconds: number | undefined;
  /** Rejected because of other work, such as a sync that runs already. Later the same request may be accepted. */
  readonly isConflict: boolean;
  /** Throttled because too much waits in the same workspace, and not because of the load of the whole platform. */
  readonly isQueueFull: boolean;
  /** The connector's reason, for people. It may quote the configuration. */
  readonly reason: ConnectorFailure | undefined;

  constructor(failure: PlatformFailure, message: string, options: PlatformErrorOptions = {}) {
    super(message, options);
    this.name = 'PlatformError';
    this.failure = failure;
    this.timedOut = options.timedOut ?? false;
    this.settled = options.settled ?? failure !== 'unknown';
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isConflict = options.isConflict ?? false;
    this.isQueueFull = options.isQueueFull ?? false;
    this.reason = options.reason;
  }

  /** The same failure when an earlier try of the same call may still take effect. */
  unsettled(): PlatformError {
    const { failure, message, timedOut, retryAfterSeconds, isConflict, isQueueFull, reason, cause } = this;
    return new PlatformError(failure, message, {
      timedOut,
      settled: false,
      retryAfterSeconds,
      isConflict,
      isQueueFull,
      reason,
      cause,
    });
  }
}

/** Names are the same when their NFC forms are equal: case counts, compatibility forms differ. */
export function sameName(a: string, b: string): boolean {
  return a === b || a.normalize('NFC') === b.normalize('NFC');
}

/**
 * Workspaces of equal age keep the platform's order. Where the platform gives no age, the smallest id comes first:
 * every replica must pick the same workspace.
 */
export function oldestFirst(workspaces: PlatformWorkspace[]): PlatformWorkspace[] {
  return workspaces.toSorted((a, b) => {
    if (a.createdAt !== undefined && b.createdAt !== undefined) return a.createdAt - b.createdAt;
    return a.id < b.id ? -1 : 1;
  });
}
