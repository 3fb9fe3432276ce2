import form from '@inlay/ui/form/words/en.ts';

const rows = (count: number, number: string) => `${number} ${count === 1 ? 'row' : 'rows'}`;

const en = {
  language: 'en',
  form,

  loading: 'Loading…',
  back: 'Back',
  cancel: 'Cancel',
  tryAgain: 'Try again',
  opensInNewTab: '(opens in a new tab)',
  rows,
  /** A sync that found nothing new since the one before. */
  nothingNew: 'No new data',

  choose: {
    title: 'Connect a source',
    lead: 'Choose where your data comes from.',
    offers: 'Available sources',
    search: 'Search sources',
    found: (count: number, number: string) => (count === 1 ? '1 source found' : `${number} sources found`),
    nothingFound: (text: string) => `No sources match “${text}”.`,
    showAll: 'Clear search',
    connected: (_count: number, number: string) => `${number} connected`,
    yourSources: (_count: number, number: string) => `Your sources (${number})`,
  },

  empty: {
    title: 'No sources available yet',
    text: 'Sources you can connect will appear here.',
  },

  connect: {
    title: (template: string) => `Connect ${template}`,
    guide: 'Setup guide',
    submit: 'Test and connect',
  },

  name: {
    label: 'Name',
    hint: 'Shown in your list of sources.',
    missing: 'Enter a name.',
    unusable: 'Use up to 255 characters, without control characters.',
  },

  steps: {
    label: 'Progress',
    checking: 'Testing connection…',
    checked: 'Connection tested',
    connect: 'Connect',
    connecting: 'Connecting…',
    connected: 'Connected',
    save: 'Save',
    saving: 'Saving…',
    firstSync: 'First sync',
    done: 'done',
    failed: 'failed',
    patience: 'Usually takes a minute or two.',
  },

  /** Replaces reasons that are not meant for customers. */
  problemOnOurSide: 'Something’s wrong on our side. We’re on it — nothing for you to do.',
  signInEnded: 'Your sign-in is no longer valid. Sign in again.',

  check: {
    warnings: 'Test passed with warnings',
    oneRecord: (stream: string) =>
      `${stream}: The API returns a single object instead of a list, so only one row is synced. If you expect more, check the path.`,
    oneRecordOfList: (stream: string, path: string) =>
      `${stream}: The API returns a single object instead of a list, so only one row is synced. The list is probably at “${path}”. Enter it as the records path.`,
    failed: 'Connection test failed',
    noReason: 'The source gave no reason.',
    /** Follows a message of the connector. */
    next: 'Review your details and try again.',
    cancelled: 'Test cancelled. Nothing was saved.',
    unconfirmed: 'We couldn’t confirm the connection',
    unconfirmedText:
      'The response got lost. Before you try again, check your sources so that you don’t connect the same one twice.',
  },

  discard: {
    title: 'Discard changes?',
    text: 'Your changes haven’t been saved.',
    confirm: 'Discard',
    keep: 'Keep editing',
  },

  connected: {
    title: (name: string) => `${name} is connected`,
    pendingTitle: (name: string) => `Connecting ${name}`,
    failedTitle: (name: string) => `Couldn’t connect ${name}`,
    waiting: 'Starting…',
    syncing: (rows: string) => `${rows} so far`,
    synced: (rows: string) => `${rows} synced`,
    syncedWithoutCount: 'Completed',
    syncFailed: 'Failed',
    syncCancelled: 'Cancelled',
    paused: 'Paused',
    atNextRun: (when: string) => `Starts ${when}`,
    byHand: 'Not started yet',
    unknown: 'Status unavailable',
    leave: 'You can leave this page. Syncing continues in the background.',
    nothingSynced: 'You’re all set. No data is synced from this source yet.',
    done: 'Done',
    another: 'Connect another source',
    openSettings: 'Review settings',
  },

  list: {
    title: 'Your sources',
    add: 'Add source',
    lastSync: (when: string) => `Last sync ${when}`,
    nextSync: (when: string) => `Next sync ${when}`,
    notSynced: 'Not synced yet',
    statusUnknown: 'Sync status is unavailable right now. Your sources aren’t affected.',
  },

  states: {
    pending: 'Setting up',
    failed: 'Needs attention',
    syncing: 'Syncing',
    sync_failed: 'Sync failed',
    paused: 'Paused',
    ready: 'Connected',
  },

  source: {
    parts: 'Source details',
    activity: 'Activity',
    settings: 'Settings',
    failed: 'This source needs your attention',
    failedWithoutReason: 'Setup failed. Review the settings and save them again.',
    reviewSettings: 'Review settings',
    pending: 'Setting up this source. You can leave this page.',
    nothingSynced: 'This source is connected. No data is synced from it yet.',
    syncTo: (destination: string) => `Sync to ${destination}`,
    syncNow: 'Sync now',
    syncing: 'Syncing…',
    syncStarted: 'Sync started',
    cancelSync: 'Cancel sync',
    syncCancelled: 'Sync cancelled',
    failingFor: (duration: string) => `Failing for ${duration}`,
    tryingAgain: (failing: string) => `${failing}, retrying`,
    failing: 'Sync is failing',
    paused: 'Syncing is paused until your account is active again.',
    pausedByTeam: 'Syncing is paused.',
    notReady: 'This connection just changed, so the sync couldn’t start. Try again in a moment.',
    history: 'History',
    /** Values that a sync could not deliver unchanged. */
    changes: {
      title: (count: number, number: string) => `${number} ${count === 1 ? 'value' : 'values'} changed during sync`,
      skipped: (count: number, number: string) => `${rows(count, number)} skipped: larger than 20 MB`,
      notReplaced: 'The source didn’t confirm that all rows were read, so earlier rows were kept.',
      nulled: (count: number, number: string, field: string) =>
        `${field}: ${number} ${count === 1 ? 'value' : 'values'} couldn’t be stored`,
      shortened: (count: number, number: string, field: string) =>
        `${field}: ${number} ${count === 1 ? 'value' : 'values'} shortened`,
      not_a_number: (count: number, number: string, field: string) =>
        `${field}: ${number} non-numeric ${count === 1 ? 'value' : 'values'} left empty`,
      left_out: (count: number, number: string, field: string) =>
        `${field}: ${number} ${count === 1 ? 'value' : 'values'} skipped because the destination has no such column`,
      more: (count: number, number: string) => `and ${number} more ${count === 1 ? 'field' : 'fields'}`,
    },
    /** For two or more runs. */
    quietRuns: (_count: number, number: string) => `${number} syncs with no new data`,
    noHistory: 'No syncs yet.',
    showMore: 'Show more',
    save: 'Test and save',
    rename: 'Save name',
    saved: 'Changes saved',
    notOffered: 'You can’t change these settings right now, but you can rename or disconnect the source.',
    goneTitle: 'This source no longer exists',
    goneText: 'The source may have been disconnected in another window.',
  },

  /** What a customer chooses for a connection. */
  choice: {
    open: 'Data and schedule',
    often: 'Sync frequency',
    every: (minutes: number) =>
      minutes < 60
        ? `Every ${minutes} minutes`
        : minutes === 60
          ? 'Every hour'
          : minutes < 1_440
            ? `Every ${minutes / 60} hours`
            : minutes === 1_440
              ? 'Every day'
              : 'Every week',
    byHand: 'Manual',
    asNow: 'Keep current schedule',
    streams: 'Data to sync',
    save: 'Save',
    soon: 'The new settings apply in a moment.',
  },

  jobs: {
    pending: 'Queued',
    running: 'Running',
    incomplete: 'Retrying',
    failed: 'Failed',
    succeeded: 'Completed',
    cancelled: 'Cancelled',
  },

  disconnect: {
    heading: 'Disconnect source',
    text: 'Syncing stops and your saved credentials are deleted. Data already synced is kept.',
    open: 'Disconnect',
    title: (name: string) => `Disconnect ${name}?`,
    confirm: 'Disconnect',
    confirming: 'Disconnecting…',
    done: (name: string) => `${name} disconnected`,
  },

  failures: {
    offline: { title: 'You’re offline', text: 'Check your internet connection. We’ll reconnect automatically.' },
    unreachable: { title: 'No response', text: 'The request timed out. Check your connection and try again.' },
    access_denied: {
      title: 'You don’t have access',
      text: 'Your access may have changed. Reload the page or contact support.',
    },
    only_view: { title: 'View only', text: 'You can’t change anything here, and links don’t open.' },
    not_found: { title: 'No longer available', text: 'What you selected no longer exists. Go back and choose again.' },
    conflict: { title: 'That didn’t work', text: 'Something changed in the meantime. Try again in a moment.' },
    limit_reached: {
      title: 'Limit reached',
      text: 'Remove what you don’t need, or contact support to raise the limit.',
    },
    invalid: { title: 'Some details aren’t valid', text: 'Correct the marked fields and try again.' },
    rate_limited: { title: 'Too many requests', text: 'Wait a moment, then try again.' },
    unavailable: { title: 'Something went wrong', text: 'The problem is on our side. Try again in a few minutes.' },
  },
  checkFields: (fields: string) => `That didn’t work. Check: ${fields}.`,
  /** By code. */
  reasons: {
    sign_in_lost: 'We lost your sign-in. Sign in again.',
    not_reported: 'No reason was given. Try again, or contact support if it keeps failing.',
    platform_not_ready: 'Setup is taking longer than usual. We’ll finish it automatically.',
    rejected_by_platform: 'These settings were rejected. Review them and try again.',
    source_lost: 'This source no longer exists. Disconnect it, then connect it again.',
    connection_lost: 'This connection no longer exists. Disconnect the source, then connect it again.',
    no_streams: 'This source has no data to sync. Add data to it, then try again.',
    chosen_streams_gone: 'The data you selected is no longer in this source. Select other data.',
    check_interrupted: 'The test was interrupted. Try again.',
    check_not_run: 'The test couldn’t run. Try again later.',
  },
  quotas: {
    reached: (what: string, next: string) => `You’ve reached the limit of ${what}. ${next}`,
    things: {
      sources: (count: number, amount: string) => `${amount} ${count === 1 ? 'source' : 'sources'}`,
      connections: (count: number, amount: string) => `${amount} ${count === 1 ? 'connection' : 'connections'}`,
      concurrent_syncs: (count: number, amount: string) => `${amount} ${count === 1 ? 'sync' : 'syncs'} at a time`,
      rows_per_day: (count: number, amount: string) => `${rows(count, amount)} per day`,
      rows_per_month: (count: number, amount: string) => `${rows(count, amount)} per month`,
      bytes_per_day: (_count: number, amount: string) => `${amount} per day`,
      bytes_per_month: (_count: number, amount: string) => `${amount} per month`,
    },
    no_room: 'Disconnect a source you don’t need, or contact support to raise the limit.',
    too_many: 'Try again when one has finished.',
    waits: 'This sync starts when another one finishes.',
    resumes: (time: string) => `Syncing resumes on ${time}.`,
    nextSync: (time: string) => `The next sync of this connection can start on ${time}.`,
  },
  retryIn: (duration: string) => `Try again in ${duration}.`,

  offlineBanner: 'You’re offline. We’ll reconnect automatically.',
  stale: 'We couldn’t refresh this page. What you see may be out of date.',

  expired: {
    title: 'Your session has expired',
    renewing: 'Renewing your session. Nothing you entered is lost.',
    reload: 'Reload the page, or go back to the app and open it again.',
  },
};

export default en;

/** The same keys, with strings and functions of the same parameters. */
type Translated<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => string
    ? (...args: A) => string
    : T[K] extends string
      ? string
      : Translated<T[K]>;
};
export type Words = Translated<typeof en>;
