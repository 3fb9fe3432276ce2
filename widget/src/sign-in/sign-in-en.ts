/** What the widget says about signing in with a provider. Loaded only where somebody can sign in. */
const en = {
  signIn: (provider: string) => `Sign in with ${provider}`,
  again: 'Sign in again',
  lead: (provider: string) => `You sign in on the page of ${provider}. Your password stays there.`,
  enterKeys: 'Enter keys instead',
  signInInstead: 'Sign in instead',
  missing: 'Sign in first.',
  waiting: (provider: string) => `Go on in the window of ${provider}`,
  waitingText: 'This page goes on by itself once you have signed in.',
  finishing: 'Finishing the sign-in…',
  noWindow: 'If no new window has opened, open it here:',
  openWindow: 'Open the sign-in',
  useThisWindow: 'Go on in this window',
  windowClosed: 'It looks like the sign-in window was closed.',
  windowUnknown: 'If you closed the window, you can open it again.',
  reopenWindow: 'Reopen window',
  showWindow: 'Show window',
  cancelled: 'Sign-in cancelled',
  connectedAs: (account: string) => `Connected as ${account}`,
  connected: (provider: string) => `Connected with ${provider}`,
  otherAccount: 'Use another account',
  failed: 'The sign-in did not work',
  failures: {
    denied: 'You did not agree to what is asked for. Nothing was connected.',
    expired: 'The sign-in took too long. Start a new one.',
    refused: 'The provider did not accept the sign-in. Try again.',
    unreachable: 'The provider does not answer at the moment. Try again later.',
    not_possible: 'Signing in is not possible at the moment. Contact the support of this product.',
  },
  /** What customers are asked for by the presets, by its English title. */
  values: {
    'GitLab host': 'GitLab host',
    'Sign-in host': 'Sign-in host',
    'Intercom address': 'Intercom address',
    'Name of the shop': 'Name of the shop',
    'Subdomain of Zendesk': 'Subdomain of Zendesk',
  },
  onlyTheName: 'Enter only the name itself, such as “acme”, with letters, digits and hyphens.',
  oneOfHosts: (hosts: string) => `Choose one of these: ${hosts}.`,
  missingScopes: 'Some permissions are missing',
  missingScopesText: 'Without them the data cannot be read. Sign in again, and agree to all of them:',
  grantAgain: 'Grant again',
  unconfirmed: 'This is another account',
  unconfirmedText: (account: string, before: string) =>
    `You have signed in as ${account}. Until now this source was connected as ${before}. If you go on, it brings the data of ${account} from now on.`,
  unconfirmedUnknown:
    'You have signed in with another account than before. If you go on, this source brings the data of that account from now on.',
  confirm: 'Use this account',
  endedTitle: 'Sign in again to go on',
  endedText: (provider: string) =>
    `${provider} does not accept the earlier sign-in any more. Until you sign in again, nothing is synced. Settings and history stay.`,
  restored: 'You are signed in again. Syncing goes on by itself.',
};

export default en;

export type SignInWords = {
  [K in keyof typeof en]: (typeof en)[K] extends (...args: infer A) => string
    ? (...args: A) => string
    : (typeof en)[K] extends string
      ? string
      : Record<keyof (typeof en)[K], string>;
};
