/** The texts for signing in with a provider. Loaded only when a template has a sign-in. */
const en = {
  signIn: (provider: string) => `Sign in with ${provider}`,
  again: 'Sign in again',
  lead: (provider: string) => `You’ll sign in at ${provider}. We never see your password.`,
  enterKeys: 'Enter credentials instead',
  signInInstead: 'Sign in instead',
  missing: 'Sign in first.',
  waiting: (provider: string) => `Continue in the ${provider} window`,
  waitingText: 'This page continues automatically once you’ve signed in.',
  finishing: 'Finishing sign-in…',
  noWindow: 'No new window? Open it here:',
  openWindow: 'Open sign-in',
  useThisWindow: 'Continue in this window',
  windowClosed: 'The sign-in window seems to be closed.',
  windowUnknown: 'If you closed the window, you can reopen it.',
  reopenWindow: 'Reopen window',
  showWindow: 'Show window',
  cancelled: 'Sign-in cancelled',
  connectedAs: (account: string) => `Connected as ${account}`,
  connected: (provider: string) => `Connected to ${provider}`,
  otherAccount: 'Use another account',
  failed: 'Sign-in failed',
  failures: {
    denied: 'You didn’t grant access, so nothing was connected.',
    expired: 'Signing in took too long. Try again.',
    refused: 'The provider rejected the sign-in. Try again.',
    unreachable: 'The provider isn’t responding. Try again later.',
    not_possible: 'Sign-in isn’t available right now. Contact support.',
  },
  /** Titles of the presets’ fields, by their English title. */
  values: {
    'GitLab host': 'GitLab host',
    'Sign-in host': 'Sign-in host',
    'Intercom address': 'Intercom address',
    'Shop name': 'Shop name',
    'Zendesk subdomain': 'Zendesk subdomain',
  },
  onlyTheName: 'Enter only the name, such as “acme”, using letters, digits and hyphens.',
  oneOfHosts: (hosts: string) => `Choose one of these: ${hosts}.`,
  missingScopes: 'Permissions missing',
  missingScopesText: 'We need these permissions to read your data. Sign in again and allow all of them:',
  grantAgain: 'Grant permissions',
  unconfirmed: 'You used a different account',
  unconfirmedText: (account: string, before: string) =>
    `You signed in as ${account}, but this source is connected as ${before}. If you continue, it syncs data from ${account} instead.`,
  unconfirmedUnknown:
    'You signed in with a different account than before. If you continue, this source syncs data from the new account.',
  confirm: 'Use this account',
  endedTitle: 'Sign in again to continue',
  endedText: (provider: string) =>
    `${provider} no longer accepts your sign-in, so syncing has stopped. Your settings and history are kept.`,
  restored: 'You’re signed in again. Syncing resumes automatically.',
};

export default en;

export type SignInWords = {
  [K in keyof typeof en]: (typeof en)[K] extends (...args: infer A) => string
    ? (...args: A) => string
    : (typeof en)[K] extends string
      ? string
      : Record<keyof (typeof en)[K], string>;
};
