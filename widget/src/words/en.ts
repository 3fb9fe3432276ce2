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
  /** Said of a sync that found nothing new since the sync before it. */
  nothingNew: 'Nothing new',

  choose: {
    title: 'Connect a source',
    lead: 'Choose where your data comes from.',
    offers: 'Available sources',
    search: 'Search sources',
    found: (count: number, number: string) => (count === 1 ? '1 source found' : `${number} sources found`),
    nothingFound: (text: string) => `No source matches “${text}”.`,
    showAll: 'Show all sources',
    connected: (_count: number, number: string) => `${number} connected`,
    yourSources: (_count: number, number: string) => `Your sources (${number})`,
  },

  empty: {
    title: 'Nothing to connect yet',
    text: 'There are no sources for you to connect at the moment. As soon as there are, you will find them here.',
  },

  connect: {
    title: (template: string) => `Connect ${template}`,
    guide: 'How to set this up',
    submit: 'Test and connect',
  },

  name: {
    label: 'Name',
    hint: 'How this source appears in your list.',
    missing: 'Enter a name.',
    unusable: 'Use at most 255 characters, without special control characters.',
  },

  steps: {
    label: 'Progress',
    checking: 'Checking your details…',
    checked: 'Details checked',
    connect: 'Connect',
    connecting: 'Connecting…',
    connected: 'Connected',
    save: 'Save',
    saving: 'Saving…',
    firstSync: 'First sync',
    done: 'done',
    failed: 'failed',
    patience: 'This can take a minute or two.',
  },

  /** In place of a reason that is not for customers. */
  problemOnOurSide: 'There is a problem on our side, and our team can see it. You do not have to change anything.',
  signInEnded: 'The sign-in has ended. Sign in again.',

  check: {
    warnings: 'Checked, but there is something to know',
    oneRecord: (stream: string) =>
      `${stream}: the API answers with one object and not with a list, so only one row arrives. If there should be more, check the path.`,
    oneRecordOfList: (stream: string, path: string) =>
      `${stream}: the API answers with one object and not with a list, so only one row arrives. The list is probably at “${path}”: enter that as the path of the records.`,
    failed: 'The check found a problem',
    noReason: 'The source gave no reason. Go through your details and try again.',
    cancelled: 'Check cancelled. Nothing was saved.',
    unconfirmed: 'We could not confirm the connection',
    unconfirmedText:
      'The answer got lost on the way. Look at your sources before you try again, so that nothing is connected twice.',
  },

  discard: {
    title: 'Discard your entries?',
    text: 'What you have entered has not been saved.',
    confirm: 'Discard',
    keep: 'Keep editing',
  },

  connected: {
    title: (name: string) => `${name} is connected`,
    pendingTitle: (name: string) => `Connecting ${name}`,
    failedTitle: (name: string) => `${name} could not be connected`,
    waiting: 'Starting…',
    syncing: (rows: string) => `${rows} so far`,
    synced: (rows: string) => `${rows} synced`,
    syncedWithoutCount: 'Completed',
    syncFailed: 'Failed',
    syncCancelled: 'Cancelled',
    paused: 'Paused',
    atNextRun: (when: string) => `Starts ${when}`,
    byHand: 'Not started yet',
    unknown: 'Not known at the moment',
    leave: 'You do not have to wait: everything continues on its own.',
    nothingSynced:
      'Your source is connected. No data is being synced from it yet, and there is nothing else for you to do.',
    done: 'Done',
    another: 'Connect another source',
    openSettings: 'Review settings',
  },

  list: {
    title: 'Your sources',
    add: 'Add a source',
    lastSync: (when: string) => `Last sync ${when}`,
    nextSync: (when: string) => `Next sync ${when}`,
    notSynced: 'Not synced yet',
    statusUnknown: 'The sync status is not available right now. Your sources are not affected.',
  },

  states: {
    pending: 'Setting up',
    failed: 'Needs attention',
    syncing: 'Syncing',
    sync_failed: 'Last sync failed',
    paused: 'Paused',
    ready: 'Connected',
  },

  source: {
    parts: 'Parts of this source',
    activity: 'Activity',
    settings: 'Settings',
    failed: 'This source needs your attention',
    failedWithoutReason: 'It could not be set up. Review the settings and save them again.',
    reviewSettings: 'Review settings',
    pending: 'This source is being set up. It continues on its own.',
    nothingSynced: 'This source is connected. No data is being synced from it yet.',
    syncTo: (destination: string) => `Sync to ${destination}`,
    syncNow: 'Sync now',
    syncing: 'Syncing…',
    syncStarted: 'Sync started',
    cancelSync: 'Cancel sync',
    syncCancelled: 'Sync cancelled',
    failingSince: (when: string) => `Failing since ${when}`,
    tryingAgain: (failing: string) => `${failing}, trying again`,
    failing: 'Syncing fails',
    paused: 'Syncing is paused. It continues once your account is active again.',
    pausedByTeam: 'Syncing is paused.',
    notReady:
      'The sync could not be started, because something about this connection has just changed. Try again in a moment.',
    history: 'History',
    /** Said of values in a sync that did not arrive unchanged. */
    changes: {
      title: (count: number, number: string) =>
        `${number} ${count === 1 ? 'value' : 'values'} did not arrive unchanged`,
      skipped: (count: number, number: string) =>
        `${number} ${count === 1 ? 'row was' : 'rows were'} skipped: too large to move (20 MB)`,
      notReplaced: 'The source did not say whether it had been read to its end. The earlier rows are kept.',
      nulled: (count: number, number: string, field: string) =>
        `${number} ${count === 1 ? 'value' : 'values'} of the field ${field} could not be kept`,
      shortened: (count: number, number: string, field: string) =>
        `${number} ${count === 1 ? 'value' : 'values'} of the field ${field} had to be shortened`,
      not_a_number: (count: number, number: string, field: string) =>
        `${number} ${count === 1 ? 'value' : 'values'} of the field ${field} had no number and stayed empty`,
      left_out: (count: number, number: string, field: string) =>
        `${number} ${count === 1 ? 'value' : 'values'} of the field ${field} had no place at the destination`,
      more: (count: number, number: string) => `and ${number} more ${count === 1 ? 'field' : 'fields'}`,
    },
    /** For two or more runs. */
    quietRuns: (_count: number, number: string) => `${number} runs without new data`,
    noHistory: 'No sync has run yet.',
    showMore: 'Show more',
    save: 'Test and save',
    rename: 'Save name',
    saved: 'Your changes are saved',
    notOffered: 'The details of this source cannot be changed at the moment. You can still rename or disconnect it.',
    goneTitle: 'This source is no longer there',
    goneText: 'It has been disconnected, perhaps in another window.',
  },

  /** What a customer chooses for a connection. */
  choice: {
    open: 'Data and schedule',
    often: 'How often',
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
    byHand: 'Only when I start it',
    asNow: 'As it is now',
    streams: 'What is synced',
    save: 'Save',
    soon: 'They take effect in a moment.',
  },

  jobs: {
    pending: 'Waiting to start',
    running: 'Running',
    incomplete: 'Trying again',
    failed: 'Failed',
    succeeded: 'Completed',
    cancelled: 'Cancelled',
  },

  disconnect: {
    heading: 'Disconnect this source',
    text: 'Syncing stops and your access details are deleted. Data that has already been delivered stays where it is.',
    open: 'Disconnect',
    title: (name: string) => `Disconnect ${name}?`,
    confirm: 'Disconnect',
    confirming: 'Disconnecting…',
    done: (name: string) => `${name} is disconnected`,
  },

  failures: {
    offline: { title: 'You are offline', text: 'Check your internet connection. We continue as soon as you are back.' },
    unreachable: {
      title: 'No answer',
      text: 'The service did not answer in time. Check your connection and try again.',
    },
    access_denied: {
      title: 'You do not have access',
      text: 'Your access may have changed. Reload the page, or contact the support of this product.',
    },
    only_view: { title: 'This is a view', text: 'Nothing can be changed here, and links do not open.' },
    not_found: {
      title: 'No longer available',
      text: 'What you were looking for is not there any more. Go back and choose again.',
    },
    conflict: {
      title: 'This does not work right now',
      text: 'Something has changed in the meantime. Try again in a moment.',
    },
    limit_reached: {
      title: 'A limit is reached',
      text: 'Remove what is not needed, or ask the support of this product for a higher limit.',
    },
    invalid: { title: 'Some details are not accepted', text: 'Correct the marked fields, then try again.' },
    rate_limited: { title: 'Too many requests', text: 'Wait a moment, then try again.' },
    unavailable: { title: 'Something went wrong', text: 'This is not your fault. Try again in a few minutes.' },
  },
  lookAt: (fields: string) => `This did not work with what was entered. Check: ${fields}.`,
  /** By the code of the reason. */
  reasons: {
    sign_in_lost: 'Your sign-in was lost. Sign in again.',
    platform_not_ready: 'Setup is taking longer than usual. It continues automatically.',
    rejected_by_platform: 'These settings were not accepted. Review them and try again.',
    source_lost: 'This source no longer exists. Disconnect it, then connect it again.',
    connection_lost: 'This connection no longer exists. Disconnect the source, then connect it again.',
    no_streams: 'This source has no data to sync.',
    chosen_streams_gone: 'The data you chose is no longer in this source. Choose again.',
    check_interrupted: 'The check was interrupted. Try again.',
    check_not_run: 'The check could not run. Try again later.',
  },
  quotas: {
    reached: (what: string) => `The limit of ${what} is reached.`,
    things: {
      sources: (count: number, amount: string) => `${amount} ${count === 1 ? 'source' : 'sources'}`,
      connections: (count: number, amount: string) => `${amount} ${count === 1 ? 'connection' : 'connections'}`,
      concurrent_syncs: (count: number, amount: string) =>
        `${amount} ${count === 1 ? 'sync' : 'syncs'} at the same time`,
      rows_per_day: (count: number, amount: string) => `${amount} ${count === 1 ? 'row' : 'rows'} per day`,
      rows_per_month: (count: number, amount: string) => `${amount} ${count === 1 ? 'row' : 'rows'} per month`,
      bytes_per_day: (_count: number, amount: string) => `${amount} per day`,
      bytes_per_month: (_count: number, amount: string) => `${amount} per month`,
    },
    no_room: 'Remove a source that is not needed, or ask for a higher limit.',
    too_many: 'Try again when one has ended.',
    waits: 'The sync starts by itself when another one has ended.',
    goesOn: (time: string) => `Syncs go on by themselves on ${time}.`,
    nextSync: (time: string) => `The next sync of this connection can start on ${time}.`,
  },
  retryIn: (duration: string) => `You can try again in ${duration}.`,

  offlineBanner: 'You are offline. We continue as soon as you are back.',
  stale: 'This view cannot be refreshed at the moment. It may not be up to date.',

  expired: {
    title: 'Your session has ended',
    renewing: 'One moment: it is being renewed. Nothing you have entered is lost.',
    reload: 'Reload this page to continue.',
  },
};

export default en;

/** The same shape with other texts: each is a string, or a function that makes one. */
type Translated<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => string
    ? (...args: A) => string
    : T[K] extends string
      ? string
      : Translated<T[K]>;
};
export type Words = Translated<typeof en>;
