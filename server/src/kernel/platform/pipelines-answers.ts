/** The platform's answers about what is inside a workspace, read into our own words. */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import type { JobLog } from '@inlay/contract/pipelines/operating';
import { storableText } from '@inlay/contract/text/storable-text';
import {
  type ConnectorFailure,
  type ConnectorWarning,
  changeKinds,
  failureTypes,
  type JobStatus,
  jobStatuses,
  type PlatformConnection,
  type PlatformDefinition,
  type PlatformJob,
  type PlatformJobAttempt,
  type PlatformJobStream,
  type PlatformStream,
  type RowPoint,
  type StreamName,
} from './pipelines-port.ts';
import { PlatformError } from './platform-port.ts';
import type { PlatformAnswer } from './transport.ts';

const maxWords = 2_000;

export type Item = Record<string, unknown>;

export function idOf(item: object, field: string): string {
  const id = (item as Item)[field];
  if (typeof id !== 'string') throw new PlatformError('unknown', `the response has no ${field}`);
  return id;
}

export function readDefinition(item: Item): PlatformDefinition {
  const { specification } = item as { specification?: { connectionSpecification?: unknown } };
  return {
    id: idOf(item, 'id').toLowerCase(),
    name: String(item.name),
    version: textOrNull(item.version),
    dockerRepository: textOrNull(item.dockerRepository),
    iconUrl: textOrNull(item.iconUrl),
    documentation: textOrNull(item.documentation),
    custom: item.custom === true,
    specification: isObject(specification?.connectionSpecification)
      ? (specification as ConnectorSpecification)
      : undefined,
  };
}

export function readConnection(item: Item): PlatformConnection {
  return {
    id: String(item.connectionId),
    sourceId: String(item.sourceId),
    destinationId: String(item.destinationId),
    status: String(item.status),
    statusReason: textOrNull(item.statusReason) ?? undefined,
  };
}

export function readStream(item: Item): PlatformStream[] {
  const { streamName, streamnamespace, syncModes, defaultCursorField, sourceDefinedPrimaryKey } = item;
  if (typeof streamName !== 'string') return [];
  return [
    {
      name: streamName,
      ...(typeof streamnamespace === 'string' && streamnamespace !== '' ? { namespace: streamnamespace } : {}),
      syncModes: listOrNone<string>(syncModes),
      defaultCursorField: listOrNone<string>(defaultCursorField),
      sourceDefinedCursor: item.sourceDefinedCursorField === true,
      sourceDefinedPrimaryKey: listOrNone<string[]>(sourceDefinedPrimaryKey),
    },
  ];
}

export function readJob(item: Item): PlatformJob {
  const { jobId, status, startTime, lastUpdatedAt, rowsSynced, bytesSynced } = item;
  const known = jobStatuses.includes(status as JobStatus) ? (status as JobStatus) : 'pending';
  const isOver = known === 'succeeded' || known === 'failed' || known === 'cancelled';
  return {
    id: String(jobId),
    connectionId: String(item.connectionId),
    type: String(item.jobType),
    status: known,
    startedAt: String(startTime),
    endedAt: isOver && typeof lastUpdatedAt === 'string' ? lastUpdatedAt : null,
    rows: typeof rowsSynced === 'number' ? rowsSynced : null,
    bytes: typeof bytesSynced === 'number' ? bytesSynced : null,
    failure: failureIn(item),
    attempts: Array.isArray(item.attemptList) ? item.attemptList.flatMap(readAttempt) : undefined,
    attemptCount: countIn(item, 'attempts'),
    failedAttempts: countIn(item, 'failedAttempts'),
    streams: Array.isArray(item.streams) ? item.streams.flatMap(readJobStream) : undefined,
    moreStreams: countIn(item, 'moreStreams') ?? 0,
    rowPoints: Array.isArray(item.rowPoints) ? item.rowPoints.filter(isRowPoint).slice(-maxRowPoints) : undefined,
    traceId: textOrNull(item.traceId) ?? undefined,
  };
}

/** Exceeds what the bundled platform reports, so that a job stays small whatever a platform sends. */
const maxRowPoints = 500;

function isRowPoint(item: unknown): item is RowPoint {
  return Array.isArray(item) && item.length === 3 && item.every((value) => Number.isSafeInteger(value) && value >= 0);
}

export function readJobLog(item: Item): JobLog {
  const lines = listOrNone<Item>(item.lines).map((line) => ({
    offset: countIn(line, 'offset') ?? 0,
    time: String(line.time),
    level: String(line.level),
    origin: String(line.origin),
    message: String(line.message),
  }));
  const next = countIn(item, 'nextOffset') ?? null;
  const told = 'firstErrorOffset' in item ? { first_error_offset: countIn(item, 'firstErrorOffset') ?? null } : {};
  return {
    attempt: countIn(item, 'attempt') ?? 0,
    lines,
    total_bytes: countIn(item, 'totalBytes') ?? 0,
    next_offset: next,
    ...told,
  };
}

function failureIn({ failureReason }: Item): ConnectorFailure | null {
  return isObject(failureReason) && typeof failureReason.message === 'string' ? readFailure(failureReason) : null;
}

function readAttempt(item: unknown): PlatformJobAttempt[] {
  if (!isObject(item) || typeof item.startTime !== 'string') return [];
  return [
    {
      number: countIn(item, 'attempt') ?? 0,
      status: String(item.status),
      startedAt: item.startTime,
      endedAt: textOrNull(item.endTime),
      rows: countIn(item, 'rowsSynced') ?? null,
      bytes: countIn(item, 'bytesSynced') ?? null,
      failure: failureIn(item),
    },
  ];
}

function readJobStream(item: unknown): PlatformJobStream[] {
  if (!isObject(item) || typeof item.streamName !== 'string') return [];
  const more = isObject(item.moreChanged) ? item.moreChanged : undefined;
  return [
    {
      name: item.streamName,
      namespace: textOrNull(item.streamNamespace) ?? undefined,
      recordsEmitted: countIn(item, 'recordsEmitted') ?? 0,
      recordsWritten: countIn(item, 'recordsWritten'),
      recordsDeleted: countIn(item, 'recordsDeleted'),
      notReplaced: item.notReplaced === true,
      ...readNotices(item.notices),
      recordsSkipped: isObject(item.recordsSkipped) ? readSkipped(item.recordsSkipped) : undefined,
      valuesChanged: listOrNone(item.valuesChanged).flatMap(readValueChange),
      moreChanged: more && { fields: countIn(more, 'fields') ?? 0, values: countIn(more, 'values') ?? 0 },
    },
  ];
}

/** Exceeds what the bundled platform reports, so that a job stays small whatever a platform sends. */
const maxNotices = 10;
const maxNoticeLength = 2_000;

function readNotices(told: unknown): Pick<PlatformJobStream, 'notices'> {
  const notices = listOrNone<unknown>(told)
    .slice(0, maxNotices)
    .flatMap((item) => {
      if (!isObject(item) || typeof item.code !== 'string' || typeof item.message !== 'string') return [];
      const fields = listOrNone<unknown>(item.fields).filter((field) => typeof field === 'string');
      const message = item.message.slice(0, maxNoticeLength);
      return [{ code: item.code, message, ...(fields.length > 0 && { fields }) }];
    });
  return notices.length > 0 ? { notices } : {};
}

function readSkipped(item: Item): PlatformJobStream['recordsSkipped'] {
  const keys = listOrNone(item.keys).filter((key): key is string => typeof key === 'string');
  return { count: countIn(item, 'count') ?? 0, keys };
}

function readValueChange(item: unknown): PlatformJobStream['valuesChanged'] {
  if (!isObject(item) || typeof item.field !== 'string') return [];
  const kind = changeKinds.find((known) => known === item.kind);
  const example = textOrNull(item.example) ?? '';
  return kind ? [{ field: item.field, kind, count: countIn(item, 'count') ?? 0, example }] : [];
}

function countIn(item: Item, field: string): number | undefined {
  const count = item[field];
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : undefined;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function listOrNone<T>(value: unknown): T[] {
  return Array.isArray(value) ? value : [];
}

/** What the connector said, where the platform passes that on. */
export function reasonIn({ status, text }: PlatformAnswer): ConnectorFailure | undefined {
  const problem = status === 500 ? (tryParse(text) as { data?: unknown } | undefined) : undefined;
  const data = problem?.data;
  if (!isObject(data) || typeof data.message !== 'string') return undefined;
  return readFailure({ ...data, origin: 'source', type: data.failureType });
}

/** As reported by the bundled platform. A hosted one reports at most the message. */
export function readFailure({ message, origin, type, fields }: Item): ConnectorFailure {
  const named = listOrNone<unknown>(fields).filter((field) => typeof field === 'string');
  return {
    message: wordsOr(message),
    origin: origin === 'destination' || origin === 'platform' ? origin : 'source',
    type: failureTypes.find((known) => known === type),
    fields: named.length > 0 ? named : undefined,
  };
}

/** Undefined where there are none. */
export function readWarnings(warnings: unknown): ConnectorWarning[] | undefined {
  const read = listOrNone<unknown>(warnings).flatMap((item): ConnectorWarning[] => {
    if (!isObject(item) || typeof item.code !== 'string') return [];
    const { code, message, fields, stream, record_path } = item;
    const named = listOrNone<unknown>(fields).filter((field) => typeof field === 'string');
    return [
      {
        code,
        message: wordsOr(message),
        fields: named.length > 0 ? named : undefined,
        ...(typeof stream === 'string' && { stream: storableText(stream) }),
        ...(typeof record_path === 'string' && { record_path: storableText(record_path) }),
      },
    ];
  });
  return read.length > 0 ? read : undefined;
}

/** Undefined where the answer names none. */
export function readStreamNames(streams: unknown): StreamName[] | undefined {
  if (!Array.isArray(streams)) return undefined;
  return streams.filter(isObject).flatMap(({ name, namespace }): StreamName[] => {
    if (typeof name !== 'string') return [];
    return [{ name: storableText(name), ...(typeof namespace === 'string' && { namespace: storableText(namespace) }) }];
  });
}

export function wordsOr(message: unknown): string {
  if (typeof message !== 'string' || message === '') return 'The connector rejected the configuration.';
  return storableText(message.slice(0, maxWords));
}

export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // A proxy's page: it has no words for us.
  }
}
