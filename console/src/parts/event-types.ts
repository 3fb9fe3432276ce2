/** Groups of event types to filter by, with their API names. */
const groups = [
  'sync',
  'source',
  'connection',
  'workspace',
  'cause',
  'template',
  'tag',
  'definition',
  'credential',
  'oauth_client',
  'operator_token',
  'worker',
  'webhook_endpoint',
  'console_session',
  'quota',
  'key',
];
/** Groups that appear only in the audit log. */
const trailGroups = ['console_link', 'sign_in', 'sign_in_link', 'token', 'request', 'audit'];

const patterns = (names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [`${name}.*`, `${name}.*`]));

export const eventGroups = patterns(groups);
export const auditGroups = patterns([...groups, ...trailGroups]);
