/**
 * Sign-in with a provider in a source template: which configuration fields a sign-in fills, and what customers see of
 * it. The configuration holds a placeholder in each of these fields, which the platform replaces by tokens when a
 * connector starts.
 */
import { type Configuration, isObject, mergeConfiguration } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import type { FieldCustomization } from '@inlay/contract/catalog/source-templates';
import type { OfferedOAuth, TemplateOAuth } from '@inlay/contract/catalog/template-oauth';
import type { OAuthProvider } from '@inlay/contract/credentials/oauth-providers';
import type { Fault } from '@inlay/contract/errors';
import type { Db } from '../../kernel/db/open.ts';
import type { SourceTemplateRow } from '../../kernel/db/tables.ts';
import type { Definition } from '../definitions/definition.ts';
import { customizedSpec } from './field-customizations.ts';
import { userConfigSpec } from './user-config-spec.ts';

export interface SignInClient {
  /** As the provider writes its name. */
  providerName: string;
  provider: OAuthProvider;
}

/** The OAuth clients of an organization, which credentials/ keeps. */
export interface SignInClients {
  find(db: Db, organizationId: string, clientId: string): Promise<SignInClient | undefined>;
}

/** How customers sign in; undefined: they do not. */
export function signInOf({ oauth }: Pick<SourceTemplateRow, 'oauth'>): TemplateOAuth | undefined {
  return oauth === null ? undefined : JSON.parse(oauth);
}

export const isCustomersGrant = ({ grant = 'authorization_code' }: TemplateOAuth) => grant === 'authorization_code';

export type SignInFields = Record<string, readonly string[]>;

/** Where each value of a sign-in goes: as the template says, or as the connector's own specification does. */
export function signInFields(
  { advanced_auth }: Pick<ConnectorSpecification, 'advanced_auth'>,
  { fields }: Pick<TemplateOAuth, 'fields'>,
): SignInFields {
  if (fields) return fields;
  const described = objectIn(advanced_auth, 'oauth_config_specification');
  return {
    // What the customer entered for the addresses of the provider belongs into the configuration as well.
    ...pathsIn(objectIn(described, 'oauth_user_input_from_connector_config_specification')),
    ...pathsIn(objectIn(described, 'complete_oauth_server_output_specification')),
    ...pathsIn(objectIn(described, 'complete_oauth_output_specification')),
  };
}

/** What a configuration has in the fields of a sign-in, and the choice between forms that belongs to it. */
export function placeholdersOf(specification: ConnectorSpecification, oauth: TemplateOAuth): Configuration {
  const { advanced_auth } = specification;
  const chosen = oauth.fields ? {} : predicateOf(advanced_auth);
  const texts = Object.entries(signInFields(specification, oauth)).map(([name, path]) => nested(path, textFor(name)));
  return texts.reduce(mergeConfiguration, chosen);
}

/** What is wrong with the fields, for the operator who makes the template. */
export function signInFaults(specification: ConnectorSpecification, oauth: TemplateOAuth): Fault[] {
  const fault = (msg: string): Fault[] => [{ loc: ['body', 'oauth', 'fields'], msg, type: 'value_error' }];
  const fields = signInFields(specification, oauth);
  const names = Object.keys(fields);
  if (names.length === 0) {
    return fault(
      "name the configuration fields that the sign-in fills, because the connector's specification does not",
    );
  }
  if ((oauth.hand_over ?? 'access_token') === 'access_token') {
    return names.includes('access_token') || names.includes('refresh_token')
      ? []
      : fault('a field for access_token is required');
  }
  return names.includes('refresh_token') ? [] : fault('a field for refresh_token is required');
}

export function presentSignIn(
  specification: ConnectorSpecification,
  oauth: TemplateOAuth,
  { provider, providerName }: SignInClient,
): Omit<OfferedOAuth, 'user_config_spec'> {
  return {
    provider: providerName,
    scopes: [...new Set([...(provider.scopes ?? []), ...(oauth.scopes ?? []), ...(oauth.optional_scopes ?? [])])],
    may_paste: oauth.may_paste ?? false,
    covers: Object.values(signInFields(specification, oauth)).map((path) => [...path]),
    values: Object.entries(provider.values ?? {}).map(([name, { title, hosts = null, default: usual = null }]) => ({
      name,
      title,
      hosts,
      default: usual,
    })),
    return_to: oauth.return_to ?? [],
  };
}

/**
 * The specification of what is left to enter. A customer who may paste keys can enter them as well, unless the customer
 * has signed in.
 */
export function askedSpec(
  { specification }: Pick<Definition, 'specification'>,
  template: Pick<SourceTemplateRow, 'oauth' | 'customization'>,
  defaults: Configuration,
  isSignedIn = false,
) {
  const oauth = signInOf(template);
  const fields = fieldsOf(template);
  if (!oauth || (oauth.may_paste && !isSignedIn))
    return customizedSpec(userConfigSpec(specification, defaults), fields);
  const { advanced_auth: _, ...asked } = userConfigSpec(
    specification,
    mergeConfiguration(defaults, placeholdersOf(specification, oauth)),
  );
  return customizedSpec(asked, fields);
}

function fieldsOf({ customization }: Pick<SourceTemplateRow, 'customization'>): FieldCustomization[] | undefined {
  return JSON.parse(customization).field_customizations;
}

function objectIn(value: unknown, name: string): Record<string, unknown> {
  const member = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return isObject(member) ? member : {};
}

function pathsIn({ properties }: Record<string, unknown>): SignInFields {
  if (!isObject(properties)) return {};
  const paths = Object.entries(properties).map(([name, property]) => {
    const path = isObject(property) ? property.path_in_connector_config : undefined;
    return [name, Array.isArray(path) ? path.map(String) : []] as const;
  });
  return Object.fromEntries(paths.filter(([, path]) => path.length > 0));
}

function predicateOf(advanced: Record<string, unknown> | undefined): Configuration {
  const { predicate_key: path, predicate_value: value } = advanced ?? {};
  if (!Array.isArray(path) || path.length === 0 || value === undefined) return {};
  return nested(path.map(String), value);
}

function nested(path: readonly string[], value: unknown): Configuration {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Configuration;
}

/** Connectors that ask for the end of a token want a time. */
function textFor(name: string): string {
  return /(_at|_date|expiry)$/.test(name) ? '2000-01-01T00:00:00Z' : 'filled in at sign-in';
}
