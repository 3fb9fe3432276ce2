/**
 * Why something failed, waits or needs attention, as programs read it: a code from a closed list and its parameters. Words
 * are made where they are shown: in English by reason-words.ts, in the customer's language by the widget. Codes of errors
 * are in error-catalogue.ts. docs/reference/errors.md is generated from both lists.
 *
 * What always holds: a code keeps its meaning, and a parameter for customers never holds what only the operator may know.
 */
import { Type } from 'typebox';
import { Enumeration } from './fields.ts';
import type { LimitedQuota } from './tenancy/quotas.ts';

type None = Record<string, never>;
export interface OfStream {
  stream: string;
}
export interface OfQuota {
  quota: LimitedQuota;
  limit: number;
  /** For operators only. */
  used?: number;
}

export interface ReasonParameters {
  problem_on_our_side: None;
  check_fields: { fields: readonly string[] };
  connector_error: None;
  platform_error: None;
  not_reported: None;
  connector_timeout: { connector: 'source' | 'destination'; seconds: number };
  sign_in_ended: { why?: SignInEnd };
  sign_in_lost: None;
  oauth_client_rejected: None;
  provider_rejected: None;
  paused_by_operator: None;
  stopped_by_platform: None;
  quota_paused: OfQuota & { until: string };
  quota_waiting: OfQuota;
  platform_not_ready: None;
  rejected_by_platform: { what: RejectedPart };
  source_lost: None;
  connection_lost: None;
  no_streams: None;
  chosen_streams_gone: None;
  template_streams_gone: { streams: readonly string[] };
  destination_shared: None;
  check_interrupted: None;
  check_not_run: None;
  retry_stopped: None;
  retry_expired: None;
  key_changed: OfStream;
  cursor_changed: OfStream;
  mode_changed: OfStream;
  place_changed: OfStream;
  destination_gone: OfStream;
  destination_emptied: OfStream;
  refreshed: OfStream;
  state_shared: OfStream;
  emptied_not_refilled: OfStream;
  fields_missing: OfStream & { fields: readonly string[] };
}

export const signInEnds = ['revoked', 'uncertain', 'expired', 'scopes_missing', 'deleted'] as const;
export type SignInEnd = (typeof signInEnds)[number];
export type RejectedPart =
  | 'source'
  | 'streams'
  | 'manifest'
  | 'destination'
  | 'connection'
  | 'first_sync'
  | 'configuration';

export type ReasonCode = keyof ReasonParameters;
/** Any reason; with a type argument, those with one of these codes. */
export type Reason<Code extends ReasonCode = ReasonCode> = {
  [C in Code]: { code: C; parameters: ReasonParameters[C] };
}[Code];

export interface ReasonEntry {
  readers: 'customers' | 'operators' | 'both';
  means: string;
  /** What to do about it. */
  remedy: string;
  /** What each parameter says, by name. */
  parameters?: Record<string, string>;
  /** Part of the report on a stream of a job that succeeded. */
  isNotice?: true;
}

const nothing = 'Nothing.';
const stream = 'The stream, with its namespace and a dot in front if it has one';
const quota = {
  quota: 'The quota, such as `rows_per_day`',
  limit: 'Its limit',
  used: 'How much is used; operators only',
};
const fromStart = (means: string): ReasonEntry => ({
  readers: 'both',
  means: `The stream is read from the start: ${means}`,
  remedy: nothing,
  parameters: { stream },
  isNotice: true,
});

export const reasonCatalogue: { readonly [Code in ReasonCode]: ReasonEntry } = {
  problem_on_our_side: {
    readers: 'customers',
    means: 'The operator has to fix it. Operators see the actual code in its place.',
    remedy: 'Customers: nothing. Operators: read the same object with an operator token.',
  },
  check_fields: {
    readers: 'customers',
    means: 'The connector rejected what the customer entered, in words that the customer must not see.',
    remedy: 'Check the named fields.',
    parameters: { fields: 'Titles of the fields' },
  },
  connector_error: {
    readers: 'both',
    means: 'A connector failed and says why.',
    remedy: 'Read the text beside the code.',
  },
  platform_error: {
    readers: 'operators',
    means: 'The platform itself failed, and says why.',
    remedy: 'Read the text beside the code.',
  },
  not_reported: {
    readers: 'both',
    means: 'The platform reports that something failed, but not why, as hosted platforms do.',
    remedy: 'Look at the job on the platform.',
  },
  connector_timeout: {
    readers: 'operators',
    means: 'The connector did not answer in time.',
    remedy: 'Check its configuration, then try again.',
    parameters: { connector: '`source` or `destination`', seconds: 'How long Inlay waited' },
  },
  sign_in_ended: {
    readers: 'both',
    means: "The sign-in with the provider no longer gives access to the customer's account.",
    remedy: 'The customer signs in again.',
    parameters: { why: `${signInEnds.map((why) => `\`${why}\``).join(', ')}; operators only` },
  },
  sign_in_lost: {
    readers: 'both',
    means: 'The platform no longer has a token of the sign-in.',
    remedy: 'The customer signs in again.',
  },
  oauth_client_rejected: {
    readers: 'operators',
    means: 'The provider rejects the OAuth client.',
    remedy: 'Check the client ID and secret.',
  },
  provider_rejected: {
    readers: 'operators',
    means: "The provider refuses to renew access to the customer's account.",
    remedy: "Read the provider's message in the text beside the code.",
  },
  paused_by_operator: {
    readers: 'both',
    means: 'An operator paused the connection.',
    remedy: 'An operator sets its status to `active`.',
  },
  stopped_by_platform: {
    readers: 'operators',
    means: 'The platform disabled the connection.',
    remedy: 'Read the text beside the code. Then set the status to `active`.',
  },
  quota_paused: {
    readers: 'both',
    means: 'A quota is used up, so no sync starts.',
    remedy: 'Wait until the period ends, or raise the quota.',
    parameters: { ...quota, until: 'When syncs resume (RFC 3339)' },
  },
  quota_waiting: {
    readers: 'both',
    means: 'As many syncs are running as the quota allows.',
    remedy: 'Wait: the sync starts when another one ends.',
    parameters: quota,
  },
  platform_not_ready: {
    readers: 'both',
    means: 'The platform has not answered yet.',
    remedy: 'Wait: Inlay continues automatically.',
  },
  rejected_by_platform: {
    readers: 'both',
    means: 'The platform rejected what Inlay wanted to create or change.',
    remedy: 'Check the configuration.',
    parameters: {
      what: '`source`, `streams`, `manifest`, `destination`, `connection`, `first_sync` or `configuration`',
    },
  },
  source_lost: {
    readers: 'both',
    means: 'Somebody deleted the source on the platform.',
    remedy: 'Delete the source and connect it again.',
  },
  connection_lost: {
    readers: 'both',
    means: 'Somebody deleted the connection on the platform.',
    remedy: 'Delete its source and connect it again.',
  },
  no_streams: { readers: 'both', means: 'The source has no streams.', remedy: 'Add data at the source.' },
  chosen_streams_gone: {
    readers: 'both',
    means: 'The source no longer has any of the streams chosen for the connection.',
    remedy: 'Choose other streams.',
  },
  template_streams_gone: {
    readers: 'operators',
    means: 'The source has none of the streams that its template selects.',
    remedy: 'Change the streams of the source template.',
    parameters: { streams: 'Names of the selected streams' },
  },
  destination_shared: {
    readers: 'operators',
    means: "The data would be written to the same place as another workspace's.",
    remedy: 'Use `{workspace_id}` in `namespace_format` or `prefix`, then connect the source again.',
  },
  check_interrupted: { readers: 'both', means: 'The check did not finish.', remedy: 'Start it again.' },
  check_not_run: { readers: 'both', means: 'The platform could not run the check.', remedy: 'Try again later.' },
  retry_stopped: { readers: 'operators', means: 'An operator stopped the retry of a cause.', remedy: nothing },
  retry_expired: {
    readers: 'operators',
    means: 'The retry of a cause did not reach every connection within a day.',
    remedy: 'Start another retry.',
  },
  key_changed: fromStart('its primary key changed.'),
  cursor_changed: fromStart('its cursor changed.'),
  mode_changed: fromStart('its rows are deduplicated from now on.'),
  place_changed: fromStart('it has another name at the destination.'),
  destination_gone: fromStart('its data is no longer at the destination.'),
  destination_emptied: fromStart('somebody emptied it at the destination.'),
  refreshed: fromStart('a refresh was requested.'),
  state_shared: fromStart('the source keeps one state for it and for a stream that is read from the start.'),
  emptied_not_refilled: {
    readers: 'both',
    means: 'Somebody emptied the table that the stream appends to. Earlier rows do not come back.',
    remedy: 'Read the stream from the start if you need them.',
    parameters: { stream },
    isNotice: true,
  },
  fields_missing: {
    readers: 'both',
    means: 'Rows from earlier syncs have no value in fields that were not synced then.',
    remedy: 'Read the stream from the start (`from_start`) to fill them.',
    parameters: { stream, fields: 'The fields, at most 20' },
    isNotice: true,
  },
};

export const reasonCodes = Object.keys(reasonCatalogue) as ReasonCode[];

const codeOptions = {
  description: 'Reason as a code from the closed list in docs/reference/errors.md.',
  examples: ['platform_not_ready'],
};

const Parameters = Type.Unsafe<Reason['parameters']>({
  type: 'object',
  title: 'Reason parameters',
  additionalProperties: true,
  description: 'Parameters of the code. Empty if it has none.',
  examples: [{}],
});

export const Reason = Type.Unsafe<Reason>({
  type: 'object',
  title: 'Reason',
  properties: { code: Enumeration(reasonCodes, codeOptions), parameters: Parameters },
  required: ['code', 'parameters'],
});

/** For a field beside a text field. */
export const NullableReason = (description: string) =>
  Type.Unsafe<Reason | null>({ anyOf: [Reason, Type.Null()], description });

/** For an object that is itself the problem; `code` is null where only a text is stored, as by older versions. */
export const reasonFields = {
  code: Type.Unsafe<ReasonCode | null>({
    type: ['string', 'null'],
    enum: [...reasonCodes, null],
    ...codeOptions,
    description: `${codeOptions.description} Null for texts stored by older versions.`,
  }),
  parameters: Parameters,
};
