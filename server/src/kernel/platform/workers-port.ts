/** The workers of the bundled platform, in our own words. A hosted platform has none. */

export interface PlatformWorker {
  id: string;
  name: string;
  state: 'waiting' | 'online' | 'draining' | 'offline' | 'revoked';
  labels: Record<string, string>;
  workspaceIds: string[] | null;
  isTrusted: boolean;
  allowsPrivateNetworks: boolean;
  isReusable: boolean;
  enrolmentId: string | null;
  version: string | null;
  slots: number;
  freeSlots: number;
  running: { jobId: string; workspaceId: string; startedAt: string }[];
  createdAt: string;
  lastSeenAt: string | null;
}

export interface NewPlatformWorker {
  name?: string | undefined;
  labels?: Record<string, string> | undefined;
  workspaceIds?: string[] | undefined;
  trusted?: boolean | undefined;
  allowPrivateNetworks?: boolean | undefined;
  reusable?: boolean | undefined;
}

export interface EnrolledPlatformWorker {
  worker: PlatformWorker;
  /** A secret. The platform shows it once. */
  token: string;
  expiresAt: string | null;
}

export interface WorkersPort {
  /** Undefined where the platform has no workers. */
  listWorkers(): Promise<PlatformWorker[] | undefined>;
  /** Never retried by the client, like every create. */
  enrolWorker(worker: NewPlatformWorker): Promise<EnrolledPlatformWorker>;
  /** Undefined where there is no such worker. */
  drainWorker(id: string, drain: boolean): Promise<PlatformWorker | undefined>;
  /** False where there is no such worker. */
  revokeWorker(id: string): Promise<boolean>;
}
