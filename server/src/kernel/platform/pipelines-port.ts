/**
 * What is inside a workspace on the platform, in our own words: connectors (sources and destinations), connections
 * between them, their jobs. All ids here are the platform's own.
 */
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import type { JobLog, JobLogQuery } from '@inlay/contract/pipelines/operating';
import type { CheckWarning } from '@inlay/contract/pipelines/sources';
import type { Reason } from '@inlay/contract/reasons';

/** The outcome of a write that succeeded. */
export interface Written {
  /**
   * False when an earlier try of the same request may still take effect: it could undo a different write that follows
   * soon.
   */
  settled: boolean;
}

export type ConnectorKind = 'source' | 'destination';

/**
 * A connector that the platform has. Only the bundled platform says how to configure it; for a hosted one a registry
 * does.
 */
export interface PlatformDefinition {
  id: string;
  name: string;
  version: string | null;
  dockerRepository: string | null;
  iconUrl: string | null;
  documentation: string | null;
  custom: boolean;
  specification: ConnectorSpecification | undefined;
}

/** Tokens that a platform asks for when a connector starts. Only the bundled one can. */
export interface PlatformCredential {
  id: string;
  /** The path in the configuration of each value. */
  fields: Record<string, readonly string[]>;
  /** What the connector gets. */
  handOver: 'access_token' | 'refresh_token';
}

export interface NewPlatformConnector {
  workspaceId: string;
  name: string;
  definitionId: string;
  configuration: Configuration;
  credential?: PlatformCredential;
}

/** A source that is a declarative manifest, in a workspace. */
export interface NewPlatformDefinition {
  workspaceId: string;
  name: string;
  manifest: Record<string, unknown>;
}

/** What is checked before it is made: a connector that the platform has, or a manifest that it may not have. */
export type CheckedConnector = Pick<NewPlatformConnector, 'workspaceId' | 'configuration' | 'credential'> &
  ({ definitionId: string } | { manifest: Record<string, unknown> });

export interface PlatformConnection {
  id: string;
  sourceId: string;
  destinationId: string;
  /** `active` is the only status that runs syncs. */
  status: string;
  /** Why the platform itself deactivated the connection, if reported. */
  statusReason: string | undefined;
}

export interface NewPlatformConnection {
  name: string;
  sourceId: string;
  destinationId: string;
  status: 'active' | 'inactive';
  /** A Quartz expression, in UTC; null: syncs run only when asked for. */
  cronExpression: string | null;
  streams: StreamSelection[];
  /** Where the streams go at the destination; empty: the destination's default place. */
  namespaceFormat: string;
  prefix: string;
  schemaChanges: 'ignore' | 'disable_connection' | 'propagate_columns' | 'propagate_fully';
}

/** What can be changed about an existing connection. Omitted settings stay. Status is changed separately. */
export type ConnectionChanges = Partial<
  Pick<NewPlatformConnection, 'name' | 'cronExpression' | 'streams' | 'namespaceFormat' | 'prefix' | 'schemaChanges'>
>;

export interface StreamSelection {
  name: string;
  namespace?: string;
  syncMode: string;
  cursorField?: string[];
  primaryKey?: string[][];
}

/** A stream of a source, with the sync modes that it and the destination both know. */
export interface PlatformStream {
  name: string;
  namespace?: string;
  syncModes: string[];
  defaultCursorField: string[];
  sourceDefinedCursor: boolean;
  sourceDefinedPrimaryKey: string[][];
}

export const jobStatuses = ['pending', 'running', 'incomplete', 'failed', 'succeeded', 'cancelled'] as const;
export type JobStatus = (typeof jobStatuses)[number];

export interface PlatformJobAttempt {
  number: number;
  status: string;
  startedAt: string;
  endedAt: string | null;
  rows: number | null;
  bytes: number | null;
  failure: ConnectorFailure | null;
}

export interface PlatformJob {
  id: string;
  connectionId: string;
  type: string;
  status: JobStatus;
  startedAt: string;
  endedAt: string | null;
  rows: number | null;
  bytes: number | null;
  /** The reason of a failure. Only the bundled platform gives it. */
  failure: ConnectorFailure | null;
  /** Reported by the bundled platform only. Undefined otherwise. */
  attempts: PlatformJobAttempt[] | undefined;
  attemptCount: number | undefined;
  failedAttempts: number | undefined;
  /**
   * Given only by the bundled platform, for jobs that have succeeded. `moreStreams` says how many streams are left out.
   */
  streams: PlatformJobStream[] | undefined;
  moreStreams: number;
  /** Progress of rows by time (ms) and attempt, with a bounded number of points. Bundled platform only. */
  rowPoints?: RowPoint[] | undefined;
  /** W3C Trace Context. Bundled platform only. */
  traceId?: string | undefined;
}

export type RowPoint = readonly [at: number, attempt: number, rows: number];

export interface PlatformJobStream {
  name: string;
  namespace: string | undefined;
  recordsEmitted: number;
  recordsWritten: number | undefined;
  recordsDeleted: number | undefined;
  notReplaced: boolean;
  notices?: { code: string; message: string; fields?: string[] }[];
  /** Records that are too large to be moved, and the keys of the first ones. */
  recordsSkipped?: { count: number; keys: string[] } | undefined;
  valuesChanged: { field: string; kind: ChangeKind; count: number; example: string }[];
  moreChanged: { fields: number; values: number } | undefined;
}

export const changeKinds = ['nulled', 'shortened', 'not_a_number', 'left_out'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** Why a connector did not work. Whether a customer may read it is decided in pipelines/failure-texts.ts. */
export interface ConnectorFailure {
  /** For people. It may quote the configuration. */
  message: string;
  origin: 'source' | 'destination' | 'platform';
  /** As reported by connectors. `system_error`: unexpected by the connector. */
  type?: FailureType | undefined;
  /** The settings at fault, most likely first, with dots for what is inside others; where the connector names them. */
  fields?: string[] | undefined;
  /** Where the message is this service's own. */
  reason?: Reason | null;
}

export const failureTypes = ['config_error', 'transient_error', 'system_error'] as const;
export type FailureType = (typeof failureTypes)[number];

/** What should be known of a connector that works. */
export interface ConnectorWarning extends CheckWarning {
  /** The settings to look at, as of a failure. */
  fields?: string[] | undefined;
}

/** A stream as a source names it. */
export type StreamName = Pick<PlatformStream, 'name' | 'namespace'>;

/** What a check found out. */
export type Verdict =
  | { status: 'succeeded'; warnings?: ConnectorWarning[] | undefined; streams?: StreamName[] | undefined }
  | { status: 'failed'; failure: ConnectorFailure };

export type CheckOutcome = Verdict & {
  /** A source had to be made for the check, and could not be deleted again. */
  leftSource: boolean;
};

/** A destination that is checked before any workspace has it. The id of the organization is the platform's own. */
export interface DestinationToCheck {
  organizationId: string;
  definitionId: string;
  configuration: Configuration;
}

/** A source whose streams are discovered before any workspace has it. */
export type SourceToCheck = Pick<DestinationToCheck, 'organizationId' | 'configuration'> &
  ({ definitionId: string } | { manifest: Record<string, unknown> });

export interface PipelinesPort {
  /** Whether the platform can check destinations. A hosted one has no such request. */
  checksDestinations(): Promise<boolean>;
  /** Only where `checksDestinations`. Runs the connector, and may take minutes. */
  checkDestination(destination: DestinationToCheck): Promise<Verdict>;
  /** Only where `checksDestinations`. Checks the source, and names its streams if it works. May take minutes. */
  discoverStreams(source: SourceToCheck): Promise<Verdict>;
  /**
   * Whether the platform asks for the tokens of a credential when a connector starts. A hosted one cannot: the tokens have to
   * be in the configuration, and a `credential` must not be sent. An Inlay platform that cannot ask is `unavailable`: it has to
   * be updated, and no token must go to it meanwhile.
   */
  resolvesCredentials(): Promise<boolean>;
  /** What keeps the platform from asking for tokens at this moment; undefined if nothing does, or it never asks. */
  testCredentials(): Promise<string | undefined>;
  listDefinitions(kind: ConnectorKind): Promise<PlatformDefinition[]>;
  /** The manifest of the workspace whose name ends with `nameEnd`. */
  findManifest(workspaceId: string, nameEnd: string): Promise<string | undefined>;
  /** Never retried by the client, like every create. */
  createManifest(definition: NewPlatformDefinition): Promise<string>;
  /** Sources using the definition continue with the new manifest. */
  replaceManifest(workspaceId: string, id: string, manifest: Record<string, unknown>): Promise<Written>;
  /** A manifest that is gone already counts as deleted. No source may be made from it any more. */
  deleteManifest(workspaceId: string, id: string): Promise<void>;
  /** The connector of the workspace whose name ends with `nameEnd`. We make names that end with something unique. */
  findConnector(kind: ConnectorKind, workspaceId: string, nameEnd: string): Promise<string | undefined>;
  /** Never retried by the client, like every create. */
  createConnector(kind: ConnectorKind, connector: NewPlatformConnector): Promise<string>;
  replaceConnector(
    kind: ConnectorKind,
    id: string,
    changes: Pick<NewPlatformConnector, 'name' | 'configuration' | 'credential'>,
  ): Promise<Written>;
  /** The configuration is merged into the stored one. Omitted values stay. */
  changeConnector(
    kind: ConnectorKind,
    id: string,
    changes: Pick<NewPlatformConnector, 'name' | 'configuration'>,
  ): Promise<Written>;
  /** A source that is gone already counts as deleted. Its connections are deleted with it. */
  deleteConnector(kind: ConnectorKind, id: string): Promise<void>;
  /**
   * Runs the source to learn its streams, which may take minutes. A platform may remember what the source said before,
   * unless the streams are to be `fresh`.
   */
  listStreams(sourceId: string, destinationId: string, options?: { fresh: boolean }): Promise<PlatformStream[]>;
  /**
   * Whether the connector works with the configuration. Runs the connector, which may take minutes. `checkId` marks the
   * source that may have to be made for the check. The connector's message may quote the configuration.
   */
  checkSource(checkId: string, connector: CheckedConnector): Promise<CheckOutcome>;
  /** Deletes the source, and the definition, that were made for a check, if there are any. */
  removeCheckSource(workspaceId: string, checkId: string): Promise<void>;
  /** Deleted connections are left out. */
  listConnections(workspaceId: string): Promise<PlatformConnection[]>;
  createConnection(connection: NewPlatformConnection): Promise<string>;
  /** With streams the platform runs the source, which may take minutes. */
  changeConnection(connectionId: string, changes: ConnectionChanges): Promise<Written>;
  /** A connection that is gone already counts as deleted. */
  deleteConnection(connectionId: string): Promise<void>;
  /** A connection that is gone needs no change. */
  setConnectionStatus(connectionId: string, status: 'active' | 'inactive'): Promise<Written>;
  /** Undefined when a sync of the connection runs already. Only the bundled platform reads a stream `fromStart`. */
  startSync(connectionId: string, options?: { fromStart?: string }): Promise<PlatformJob | undefined>;
  /** Newest first. */
  listJobs(connectionId: string, page: { limit: number; offset: number }): Promise<PlatformJob[]>;
  /** Page by page, those of all connections that changed since then (milliseconds); a job may come more than once. */
  listChangedJobs(since: number): AsyncIterable<PlatformJob[]>;
  /** Undefined when it is not running. */
  cancelJob(id: string): Promise<PlatformJob | undefined>;
  /** Undefined if not reported by the platform. */
  readJobLog(id: string, query: JobLogQuery): Promise<JobLog | undefined>;
  /** Undefined when the platform does not have it. */
  findJob(id: string): Promise<PlatformJob | undefined>;
}
