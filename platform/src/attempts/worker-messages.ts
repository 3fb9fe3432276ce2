/**
 * What a worker and its coordinator say to each other, over HTTPS. Everything that a worker sends is checked against these
 * schemas; members that they don't know are ignored, so that either side may be a version ahead.
 */
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import {
  type ConfiguredCatalog,
  changeKinds,
  logLevels,
  maxRecordBytes,
  type StreamDescriptor,
} from '@inlay/protocol/protocol';
import Type, { type Static } from 'typebox';
import type { Failure, StreamNotice } from '../runner/runner.ts';
import type { Assignment, Move, Naming, Stop } from './desk.ts';

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const text = (maxLength: number) => Type.String({ maxLength });
const optional = Type.Optional;
const longText = text(16_384);
const longestState = maxRecordBytes;
/** A checkpoint of one state fits, whatever escaping makes of it. */
export const checkpointBytes = 2 * longestState + 65_536;
export const planBytes = 2 ** 28;

const Stream = Type.Object({ name: text(10_000), namespace: optional(text(10_000)) });
const Count = Type.Object({ records: count, bytes: count });
const Ref = Type.Object({ jobId: count, attempt: count, epoch: count });

const SomeFailure = Type.Object({
  message: longText,
  internalMessage: optional(longText),
  origin: Type.Enum(['source', 'destination', 'platform']),
  type: Type.Enum(['config_error', 'transient_error', 'system_error']),
  fields: optional(Type.Array(text(1_000), { maxItems: 100 })),
});

const Notice = Type.Object({
  code: text(100),
  message: longText,
  fields: optional(Type.Array(text(10_000), { maxItems: 1_000 })),
});

const StreamOutcome = Type.Object({
  stream: Stream,
  recordsEmitted: count,
  recordsWritten: optional(count),
  recordsDeleted: optional(count),
  notReplaced: optional(Type.Literal(true)),
  notices: optional(Type.Array(Notice, { maxItems: 100 })),
  recordsSkipped: optional(Type.Object({ count, keys: Type.Array(text(10_000), { maxItems: 1_000 }) })),
  valuesChanged: Type.Array(
    Type.Object({ field: text(10_000), kind: Type.Enum([...changeKinds]), count, example: longText }),
    { maxItems: 1_000 },
  ),
  moreChanged: optional(Type.Object({ fields: count, values: count })),
});

const streams = <T extends Parameters<typeof Type.Array>[0]>(item: T) => Type.Array(item, { maxItems: 10_000 });

const Outcome = Type.Object({
  ...Count.properties,
  status: Type.Enum(['succeeded', 'failed', 'cancelled', 'lost']),
  streams: streams(StreamOutcome),
  moreStreams: count,
  changedValues: Type.Partial(
    Type.Object(
      Object.fromEntries(changeKinds.map((kind) => [kind, count])) as Record<
        (typeof changeKinds)[number],
        typeof count
      >,
    ),
    { additionalProperties: false },
  ),
  lostStreams: optional(streams(Type.Object({ stream: Stream, how: Type.Enum(['gone', 'emptied']) }))),
  notReplaced: optional(streams(text(30_000))),
  failure: optional(SomeFailure),
  arrived: optional(Count),
  unfinished: optional(streams(Stream)),
});

const stops = ['lost', 'turn', 'attempt_limit', 'job_limit', 'closing'] as const satisfies readonly Stop[];

export const Report = Type.Union([
  Type.Object({
    status: Type.Literal('ended'),
    outcome: Outcome,
    tokenEnded: Type.Boolean(),
    delay: optional(SomeFailure),
  }),
  Type.Object({ status: Type.Literal('failed'), failure: SomeFailure, isDelay: Type.Boolean() }),
  Type.Object({ status: Type.Literal('stopped'), stop: Type.Enum([...stops]), arrived: Count }),
]);

const Machine = {
  protocol: count,
  version: text(100),
  slots: Type.Integer({ minimum: 1, maximum: 1_000 }),
  freeSlots: Type.Integer({ minimum: 0, maximum: 1_000 }),
};

export const WorkerJoin = Type.Object({
  token: text(200),
  /** What the machine has made for its own token, so that it can repeat a request whose answer was lost. */
  secret: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  hostname: Type.String({ pattern: '^[A-Za-z0-9._-]{0,64}$' }),
});

export const WorkerClaim = Type.Object({
  ...Machine,
  connectors: Type.Array(text(500), { maxItems: 500 }),
  /** How many tasks it takes besides attempts; a worker that knows none doesn't say. */
  freeTasks: optional(Type.Integer({ minimum: 0, maximum: 100 })),
});
export type WorkerClaim = Static<typeof WorkerClaim>;

export const WorkerHeartbeat = Type.Object({
  ...Machine,
  /** The worker has just started, and nothing of an earlier run of it is left: what that ran can go on at once. */
  isFresh: optional(Type.Boolean()),
  attempts: Type.Array(Type.Object({ ...Ref.properties, progress: optional(Count) }), { maxItems: 1_000 }),
  tasks: optional(Type.Array(text(36), { maxItems: 100 })),
});
export type WorkerHeartbeat = Static<typeof WorkerHeartbeat>;

const kind = Type.Enum(['source', 'destination']);

const texts = Type.Array(text(1_000), { maxItems: 100 });
const Warning = Type.Object({ code: text(100), message: longText, fields: optional(texts) });

/** What a connector has answered. A catalog is compressed. */
export const TaskAnswer = Type.Union([
  Type.Object({ check: Type.Literal('succeeded'), warnings: optional(Type.Array(Warning, { maxItems: 100 })) }),
  Type.Object({ check: Type.Literal('failed'), message: longText, fields: optional(texts) }),
  Type.Object({ catalog: text(16_000_000) }),
  Type.Object({ failure: SomeFailure }),
]);
export type TaskAnswer = Static<typeof TaskAnswer>;

export const WorkerTaskEnd = Type.Object({ taskId: text(36), answer: TaskAnswer });

/** What is asked of one attempt, by the last part of the path. */
export const attemptCalls = {
  connector: Type.Object({ kind, forMs: optional(count) }),
  manifest: Type.Object({ kind }),
  token: Type.Object({ notGeneration: optional(count), forMs: optional(count) }),
  /** First the hash alone; the text, compressed, only if the coordinator doesn't have it. */
  plan: Type.Object({ hash: text(64), catalog: optional(text(16_000_000)) }),
  clearing: Type.Object({}),
  anew: Type.Object({ lost: streams(Type.Object({ stream: Stream, how: Type.Enum(['gone', 'emptied']) })) }),
  /** `number` grows with every request, also with one that repeats another. */
  checkpoint: Type.Object({
    number: count,
    entries: Type.Array(
      Type.Union([Type.Object({ stream: Stream, held: text(1_000_000) }), Type.Object({ state: text(longestState) })]),
      { maxItems: 10_000 },
    ),
  }),
  configuration: Type.Object({ kind, configuration: Type.Record(Type.String(), Type.Unknown()) }),
  /** `from`: how many lines came before. */
  logs: Type.Object({
    from: count,
    lines: Type.Array(
      Type.Object({
        level: Type.Enum([...logLevels]),
        origin: Type.Enum(['source', 'destination', 'platform']),
        message: longText,
      }),
      { maxItems: 10_000 },
    ),
  }),
  finish: Report,
} as const;

export type AttemptCall = keyof typeof attemptCalls;
export type RequestOf<C extends AttemptCall> = Static<(typeof attemptCalls)[C]>;

export interface ClaimAnswer {
  isDraining: boolean;
  assignment?: GivenAssignment;
  task?: GivenTask;
}

export interface GivenAssignment extends Assignment {
  token: string;
  allowPrivateNetworks: boolean;
}

export interface HeartbeatAnswer {
  isDraining: boolean;
  /** In the order of the request. */
  stops: (Stop | null)[];
  /** Those whose caller still waits. */
  tasks?: string[];
}

/** How a connector is started on a worker. Manifests and their code come by hash; see `manifest`. */
export type WorkerLaunch =
  | { type: 'bundled'; name: string }
  | { type: 'command'; name: string }
  | { type: 'image'; image: string }
  | { type: 'manifest'; hash: string; codeHash?: string };

export interface GivenToken {
  generation: number;
  values: Record<string, string>;
  secrets: string[];
  /** As a span, since the clock of the worker may be another one. */
  expiresInMs: number | null;
}

/** A RunFailure of the coordinator, to be thrown again by the worker. */
export interface Refused {
  failure: Failure;
  isDelay: boolean;
}

export interface GivenConnector {
  launch: WorkerLaunch;
  rowBlocks?: string | undefined;
  configuration: Configuration;
  secrets: string[];
  signIn?: { token: GivenToken; fields: Record<string, readonly string[]> };
}

/** A question for a connector, asked while somebody waits. */
export interface GivenTask {
  taskId: string;
  workspaceId: string;
  kind: 'source' | 'destination';
  command: 'check' | 'discover';
  connector: GivenConnector;
  texts?: AnswerOf['manifest'] | undefined;
  allowPrivateNetworks: boolean;
}

export interface GivenMove {
  catalog: ConfiguredCatalog;
  naming: Naming;
  state: string[];
  selectedFields: [string, readonly string[]][];
  notices: [string, readonly StreamNotice[]][];
}

export interface AnswerOf {
  connector: GivenConnector | Refused;
  manifest: { manifest: string; code?: string };
  token: GivenToken | Refused;
  plan: GivenMove | Refused | { needsCatalog: true };
  clearing: GivenMove | Refused;
  anew: GivenMove | Refused;
  checkpoint: object;
  configuration: object;
  logs: object;
  finish: object;
}

export const writeMove = ({ selectedFields, notices, ...move }: Move): GivenMove => ({
  ...move,
  selectedFields: [...selectedFields],
  notices: [...notices],
});

export const readMove = ({ selectedFields, notices, ...move }: GivenMove): Move => ({
  ...move,
  selectedFields: new Map(selectedFields),
  notices: new Map(notices),
});

export type LostOf = readonly { stream: StreamDescriptor; how: 'gone' | 'emptied' }[];
