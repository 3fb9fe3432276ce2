/**
 * The platform as the rest of the service sees it: workspaces and what is in them (pipelines.ts) in our own words, and
 * failures told apart by what a caller must do about them. One adapter implements it over HTTP (client.ts), for the
 * bundled platform and a hosted one alike.
 */
import type { PipelinesPort, Written } from './pipelines-port.ts';

export interface PlatformWorkspace {
  id: string;
  name: string;
  /** Seconds since the epoch, where the platform tells. */
  createdAt?: number;
}

export interface NewPlatformWorkspace {
  organizationId: string;
  name: string;
  regionId: string;
}

/** What a platform can do beyond what every one can, as far as it shows. */
export interface PlatformTraits {
  /** Those the credentials can see. */
  organizations: string[];
  /** Whether workspaces of other organizations that it shows can be told from ours. */
  tellsApart: boolean;
  findsNamesBy: 'name filter' | 'internal listing' | 'reading all' | 'not known yet';
}

/** All ids of organizations here are the platform's own. */
export interface PlatformPort extends PipelinesPort {
  /** All live workspaces of the organization whose name is the same after NFC, oldest first where that is known. */
  findWorkspacesByName(organizationId: string, name: string): Promise<PlatformWorkspace[]>;
  /** Page by page, each id once. */
  listWorkspaces(organizationId: string): AsyncIterable<PlatformWorkspace[]>;
  /** Never sent twice by itself: the platform has no idempotency key. */
  createWorkspace(workspace: NewPlatformWorkspace): Promise<PlatformWorkspace>;
  renameWorkspace(id: string, name: string): Promise<Written>;
  /** A workspace that is gone already counts as deleted. */
  deleteWorkspace(id: string): Promise<void>;
  /** Proves that the platform answers and takes our credentials; gives the organizations they can see. */
  listOrganizations(): Promise<string[]>;
  traits(organizationId: string): Promise<PlatformTraits>;
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
  reason?: string | undefined;
}

export class PlatformError extends Error {
  readonly failure: PlatformFailure;
  readonly timedOut: boolean;
  /** False when something that was sent may still take effect: with this try of the call, or with one before it. */
  readonly settled: boolean;
  readonly retryAfterSeconds: number | undefined;
  /** A rejection because of what else goes on, such as a sync that runs already; later it may be accepted. */
  readonly isConflict: boolean;
  /** Throttled because of what else waits in the same workspace, and not because of all that is asked of the platform. */
  readonly isQueueFull: boolean;
  /** What a connector gave as the reason, for people. It may quote its configuration. */
  readonly reason: string | undefined;

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

/** Equal ages stay in the platform's order; where it tells no age, the smallest id: every replica must pick the same one. */
export function oldestFirst(workspaces: PlatformWorkspace[]): PlatformWorkspace[] {
  return workspaces.toSorted((a, b) => {
    if (a.createdAt !== undefined && b.createdAt !== undefined) return a.createdAt - b.createdAt;
    return a.id < b.id ? -1 : 1;
  });
}
