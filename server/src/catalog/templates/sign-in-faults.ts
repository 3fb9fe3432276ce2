/**
 * Whether the sign-in of a source template can work: its client, its fields, and where tokens and secrets of the operator
 * could go.
 */
import { type Configuration, mergeConfiguration } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import { addressFields } from '@inlay/contract/catalog/secret-addresses';
import type { TemplateOAuth } from '@inlay/contract/catalog/template-oauth';
import type { Fault } from '@inlay/contract/errors';
import type { Db } from '../../kernel/db/open.ts';
import { AppError } from '../../kernel/errors.ts';
import type { TokenOwner } from '../../kernel/platform/token-owner.ts';
import { partialConfigurationFaults } from '../definitions/configuration-faults.ts';
import type { Definition } from '../definitions/definition.ts';
import { isCustomersGrant, placeholdersOf, signInFaults, signInFields } from '../forms/sign-in.ts';
import { userConfigSpec } from '../forms/user-config-spec.ts';
import type { TemplatesContext } from './context.ts';

/** What is wrong with the sign-in of a template, for the operator who makes it. */
export async function oauthFaults(
  ctx: TemplatesContext,
  db: Db,
  organizationId: string,
  { specification }: Definition,
  { oauth, defaults }: { oauth: TemplateOAuth; defaults: Configuration },
): Promise<Fault[]> {
  const client = await ctx.signInClients.find(db, organizationId, oauth.oauth_client_id);
  if (!client) {
    const msg = 'no OAuth client has this id';
    return [{ loc: ['body', 'oauth', 'oauth_client_id'], msg, type: 'value_error' }];
  }
  const faults = signInFaults(specification, oauth);
  if (faults.length > 0) return faults;
  const covered = placeholdersOf(specification, oauth);
  const misfits = partialConfigurationFaults(specification, mergeConfiguration(defaults, covered), ['body', 'oauth']);
  if (misfits.length > 0) return misfits;
  const owner = ctx.tokenOwner.current();
  if (owner === undefined) throw new AppError('definitions_unavailable');
  const fault = (field: keyof TemplateOAuth, msg: string): Fault[] => [
    { loc: ['body', 'oauth', field], msg, type: 'value_error' },
  ];
  if (!isCustomersGrant(oauth)) {
    if (owner === 'platform') {
      return fault(
        'grant',
        'a hosted platform cannot renew tokens of your own; give the connector the client id and client secret instead',
      );
    }
    if (oauth.grant === 'jwt_bearer' && client.provider.client_authentication !== 'private_key_jwt') {
      return fault('grant', 'the client needs a private key: set its client_authentication to private_key_jwt');
    }
  }
  const open = openAddresses(ctx, specification, { oauth, defaults });
  if (open.length === 0) return [];
  const [field, what] = isCustomersGrant(oauth)
    ? ([oauth.hand_over === 'refresh_token' ? 'hand_over' : 'fields', 'your client secret'] as const)
    : (['grant', 'your own tokens'] as const);
  return fault(
    field,
    `set ${open.join(', ')} in partial_default_config: ${what} must not be sent to a host that a customer enters`,
  );
}

/**
 * The addresses that a customer enters, where the connector gets something of the operator's: tokens of the operator's own, or
 * the secret of the client.
 */
export function openAddresses(
  { tokenOwner }: { tokenOwner: Pick<TokenOwner, 'current'> },
  specification: ConnectorSpecification,
  { oauth, defaults }: { oauth: TemplateOAuth; defaults: Configuration },
): string[] {
  const getsAll = oauth.hand_over === 'refresh_token' || tokenOwner.current() !== 'service';
  const getsSecret = getsAll && Object.hasOwn(signInFields(specification, oauth), 'client_secret');
  if (isCustomersGrant(oauth) && !getsSecret) return [];
  const covered = placeholdersOf(specification, oauth);
  return addressFields(userConfigSpec(specification, mergeConfiguration(defaults, covered)).connectionSpecification);
}
