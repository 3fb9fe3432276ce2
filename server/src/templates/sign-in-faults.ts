/** Whether the sign-in of a source template can work: its client, its fields, and where tokens of the operator could go. */
import { type Configuration, mergeConfiguration } from '@inlay/contract/connector-configuration';
import type { Fault } from '@inlay/contract/errors';
import { addressFields } from '@inlay/contract/secret-addresses';
import type { TemplateOAuth } from '@inlay/contract/template-oauth';
import type { Db } from '../db/open.ts';
import { partialConfigurationFaults } from '../definitions/configuration-faults.ts';
import type { Definition } from '../definitions/definition.ts';
import type { TemplatesContext } from './context.ts';
import { isCustomersGrant, placeholdersOf, signInFaults } from './sign-in.ts';
import { userConfigSpec } from './user-config-spec.ts';

/** What is wrong with the sign-in of a template, for the operator who makes it. */
export async function oauthFaults(
  ctx: TemplatesContext,
  db: Db,
  organizationId: string,
  { specification }: Definition,
  { oauth, defaults }: { oauth: TemplateOAuth; defaults: Configuration },
): Promise<Fault[]> {
  const client = await ctx.findOAuthClient(db, organizationId, oauth);
  if (!client) {
    const msg = 'there is no OAuth client with this id';
    return [{ loc: ['body', 'oauth', 'oauth_client_id'], msg, type: 'value_error' }];
  }
  const faults = signInFaults(specification, oauth);
  if (faults.length > 0) return faults;
  const covered = placeholdersOf(specification, oauth);
  const misfits = partialConfigurationFaults(specification, mergeConfiguration(defaults, covered), ['body', 'oauth']);
  if (misfits.length > 0 || isCustomersGrant(oauth)) return misfits;
  if (ctx.tokenOwner === 'platform') {
    const msg =
      'a hosted platform cannot ask for tokens of your own again; give the connector the id and the secret of the client instead';
    return [{ loc: ['body', 'oauth', 'grant'], msg, type: 'value_error' }];
  }
  if (oauth.grant === 'jwt_bearer' && client.provider.client_authentication !== 'private_key_jwt') {
    const msg = 'the client needs a private key: its client_authentication has to be private_key_jwt';
    return [{ loc: ['body', 'oauth', 'grant'], msg, type: 'value_error' }];
  }
  // The operator's own tokens must not go to a host that a customer chooses.
  const { connectionSpecification } = userConfigSpec(specification, mergeConfiguration(defaults, covered));
  const open = addressFields(connectionSpecification);
  if (open.length === 0) return [];
  const msg = `give ${open.join(', ')} in partial_default_config: your own tokens must not go to a host that a customer enters`;
  return [{ loc: ['body', 'oauth', 'grant'], msg, type: 'value_error' }];
}
