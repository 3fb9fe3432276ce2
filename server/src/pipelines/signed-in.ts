/**
 * Sources whose customer has signed in with a provider. The source knows its credential; its configuration has
 * placeholders in the fields that the sign-in fills (templates/sign-in.ts), and the platform gets the credential's id and
 * the field of each value.
 */
import { type Configuration, isObject, mergeConfiguration } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import { isCustomersGrant, placeholdersOf, signInFields, signInOf } from '../catalog/forms/sign-in.ts';
import type { SourceRow, SourceTemplateRow } from '../kernel/db/tables.ts';
import { invalidRequest } from '../kernel/errors.ts';
import type { PlatformCredential } from '../kernel/platform/pipelines-port.ts';

type WithSignIn = Pick<SourceTemplateRow, 'oauth'>;

/** Throws if the customer has to sign in and has not, or has although nobody asks for it. */
export function assertSignedIn(template: WithSignIn, credentialId: string | null): void {
  const oauth = signInOf(template);
  const refuse = (msg: string, type: 'value_error' | 'value_error.missing') =>
    invalidRequest({ loc: ['body', 'credential_id'], msg, type });
  if (credentialId !== null && !(oauth && isCustomersGrant(oauth))) {
    throw refuse('this template has no customer sign-in', 'value_error');
  }
  if (credentialId === null && oauth && isCustomersGrant(oauth) && !oauth.may_paste) {
    throw refuse('the customer has to sign in first', 'value_error.missing');
  }
}

/** What stands in the fields that a sign-in fills; undefined where they were entered, or there is no sign-in. */
export function placeholdersFor(
  specification: ConnectorSpecification,
  template: WithSignIn,
  credentialId: string | null,
): Configuration | undefined {
  const oauth = signInOf(template);
  if (!oauth || (credentialId === null && isCustomersGrant(oauth))) return undefined;
  return placeholdersOf(specification, oauth);
}

/** What the platform gets for the source: its whole configuration, and the credential that fills parts of it. */
export function configuredFor(
  specification: ConnectorSpecification | undefined,
  template: WithSignIn,
  configuration: Configuration,
  credentialId: SourceRow['credential_id'],
): { configuration: Configuration; credential?: PlatformCredential } {
  const oauth = signInOf(template);
  if (!oauth || credentialId === null || !specification) return { configuration };
  const { hand_over: handOver = 'access_token' } = oauth;
  return {
    configuration: mergeConfiguration(configuration, placeholdersOf(specification, oauth)),
    credential: { id: credentialId, fields: signInFields(specification, oauth), handOver },
  };
}

/** The configuration as the customer knows it: without the fields that the sign-in fills. */
export function withoutPlaceholders(configuration: Configuration, placeholders: Configuration | undefined) {
  if (!placeholders) return configuration;
  const left = Object.entries(configuration).flatMap(([name, value]): [string, unknown][] => {
    if (!Object.hasOwn(placeholders, name)) return [[name, value]];
    const filled = placeholders[name];
    if (!isObject(filled) || !isObject(value)) return [];
    const inside = withoutPlaceholders(value, filled);
    return Object.keys(inside).length === 0 ? [] : [[name, inside]];
  });
  return Object.fromEntries(left);
}

export function hasOwnTokens(template: WithSignIn): boolean {
  const oauth = signInOf(template);
  return oauth !== undefined && !isCustomersGrant(oauth);
}
