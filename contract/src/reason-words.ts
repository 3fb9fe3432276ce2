/**
 * Reasons in English, for the text fields of the API and for the console. Customers read the words of the widget in their
 * language. Without schemas and descriptions: browsers load this file. Pure.
 */
import type { Audience } from './pipelines/health.ts';
import type { ReasonCode, ReasonParameters, RejectedPart, SignInEnd } from './reasons.ts';
import type { LimitedQuota } from './tenancy/quotas.ts';

const quotaNouns: Record<LimitedQuota, string> = {
  sources: 'sources',
  connections: 'connections',
  concurrent_syncs: 'syncs at the same time',
  rows_per_day: 'rows per day',
  rows_per_month: 'rows per month',
  bytes_per_day: 'bytes per day',
  bytes_per_month: 'bytes per month',
};

export function limitReached(quota: LimitedQuota, limit: number): string {
  const noun = limit === 1 ? quotaNouns[quota].replace(/s\b/, '') : quotaNouns[quota];
  return `You've reached the limit of ${limit} ${noun}.`;
}

/** For operators. */
export function quotaUse({ quota, limit, used }: ReasonParameters['quota_waiting']): string {
  return `Quota ${quota} reached: ${used} of ${limit} used.`;
}

export const raiseQuota = 'To raise it, use PUT /api/v1/workspaces/{workspace_id}/quotas.';

/** 2026-02-01 at 00:00 UTC. Rounded up to the minute, so that nobody comes too early. */
export function momentOf(time: number): string {
  const [day, clock = ''] = new Date(Math.ceil(time / 60_000) * 60_000).toISOString().split('T');
  return `${day} at ${clock.slice(0, 5)} UTC`;
}

const ended: Record<SignInEnd, string> = {
  revoked: 'The provider revoked access to the account.',
  uncertain: 'Access to the account was lost because answers from the provider were lost.',
  expired: 'Access to the account expired and cannot be renewed.',
  scopes_missing: 'The provider no longer grants everything that the template requires.',
  deleted: 'The sign-in was deleted.',
};
const rejected: Record<RejectedPart, string> = {
  source: 'the source',
  streams: 'its streams',
  manifest: "the connector's manifest",
  destination: 'the destination',
  connection: 'the connection',
  first_sync: 'the first sync',
  configuration: 'the configuration',
};

type Say<Parameters> = string | ((parameters: Parameters, audience: Audience) => string);
const readAnew =
  (why: string) =>
  ({ stream }: { stream: string }) =>
    `${stream} is read from the start: ${why}.`;

const words: { [Code in ReasonCode]: Say<ReasonParameters[Code]> } = {
  problem_on_our_side: "Something's wrong on our side. We're on it — nothing for you to do.",
  check_fields: ({ fields }) => `That didn't work. Check: ${fields.join(', ')}.`,
  connector_error: 'The connector failed.',
  platform_error: 'The platform failed.',
  not_reported: 'The platform gave no reason.',
  connector_timeout: ({ connector, seconds }) => `The ${connector} did not answer within ${seconds} seconds.`,
  sign_in_ended: ({ why }, audience) =>
    audience === 'customer'
      ? 'Your sign-in has expired or was revoked. Sign in again.'
      : `${why === undefined ? 'The sign-in has ended.' : ended[why]} The customer has to sign in again.`,
  sign_in_lost: 'The platform lost the token of this sign-in. Sign in again.',
  oauth_client_rejected: 'The provider rejected the OAuth client. Check its client ID and secret.',
  provider_rejected: 'The provider refused to renew access to the account.',
  paused_by_operator: 'This connection is paused.',
  stopped_by_platform: 'The platform disabled this connection.',
  quota_paused: (reached, audience) =>
    audience === 'customer'
      ? `${limitReached(reached.quota, reached.limit)} Syncs resume on ${momentOf(Date.parse(reached.until))}.`
      : `${quotaUse(reached)} Syncs resume at ${reached.until}, or when the quota is raised.`,
  quota_waiting: (reached, audience) =>
    audience === 'customer'
      ? `${limitReached(reached.quota, reached.limit)} The sync starts when another one ends.`
      : `${quotaUse(reached)} The sync starts when another one ends. ${raiseQuota}`,
  platform_not_ready: 'The platform is not ready yet. Inlay continues automatically.',
  rejected_by_platform: ({ what }) =>
    `The platform rejected ${rejected[what]}.${what === 'manifest' || what === 'configuration' ? '' : ' Check the configuration.'}`,
  source_lost: 'The platform no longer has this source. Delete it and connect it again.',
  connection_lost: 'The platform no longer has this connection. Delete its source and connect it again.',
  no_streams: 'The source has no streams, so there is no data to sync.',
  chosen_streams_gone: 'The source no longer has any of the chosen streams. Choose others.',
  template_streams_gone: ({ streams }) => `The source has none of the streams ${streams.join(', ')}.`,
  destination_shared:
    "The data would be written to the same place as another workspace's. Use {workspace_id} in the namespace_format or prefix of the connection template, then connect the source again.",
  check_interrupted: 'The check was interrupted. Start it again.',
  check_not_run: 'The platform could not run the check. Try again later.',
  retry_stopped: 'An operator stopped it.',
  retry_expired: 'Not every connection had its turn within a day.',
  key_changed: readAnew('its primary key changed'),
  cursor_changed: readAnew('its cursor changed'),
  mode_changed: readAnew('its rows are deduplicated from now on'),
  place_changed: readAnew('it has another name at the destination'),
  destination_gone: readAnew('its data is no longer at the destination'),
  destination_emptied: readAnew('somebody emptied it at the destination'),
  refreshed: readAnew('a refresh was requested'),
  state_shared: readAnew('another stream is, and the source keeps one state for both'),
  emptied_not_refilled: ({ stream }) =>
    `${stream} was emptied at the destination by somebody else. Earlier rows are not sent again.`,
  fields_missing: ({ stream, fields }) =>
    `${stream}: rows from earlier syncs have no value in ${fields.join(', ')}, which was not synced then.`,
};

export function sayReason<Code extends ReasonCode>(
  { code, parameters }: { code: Code; parameters: ReasonParameters[Code] },
  audience: Audience,
): string {
  const say: Say<ReasonParameters[Code]> | undefined = words[code];
  return typeof say === 'function' ? say(parameters, audience) : say;
}

/** Only the text beside these codes says what happened: a connector, a provider or the platform wrote it, or there is none. */
export const quotedCodes: readonly ReasonCode[] = [
  'not_reported',
  'connector_error',
  'platform_error',
  'oauth_client_rejected',
  'provider_rejected',
  'stopped_by_platform',
];
