/**
 * Tokens of a sign-in on a hosted platform, which cannot ask this service for them. (Earlier versions also handed them over to
 * an Inlay platform that ran as a process of its own: such a source stays as it is until its customer signs in again.) The platform gets them once, in the
 * configuration of the source, when the source is made and when its customer has signed in again. From then on the platform,
 * or its connector, refreshes them: what this service had is dropped as soon as the platform has confirmed.
 *
 * What always holds: a configuration that is written later lacks the fields of the sign-in, and is merged into the one that the
 * platform has, so it never puts an old token in the place of a new one.
 */
import { type Configuration, isObject, mergeConfiguration } from '@inlay/contract/catalog/connector-configuration';
import {
  makePlatformOwner,
  makeServiceOwner,
  recordHandedOver,
  tokensToHandOver,
} from '../../credentials/tokens/access.ts';
import type { SourceRow } from '../../kernel/db/tables.ts';
import type { NewPlatformConnector, PlatformCredential } from '../../kernel/platform/pipelines-port.ts';
import type { PipelinesContext } from '../context.ts';
import { openAddressesWith } from '../credential-addresses.ts';

export interface HandOver {
  /** With tokens in it, if the platform is to get any. */
  configuration: Configuration;
  /** For a source that the platform has: without the fields of the sign-in, unless the platform is to get new tokens. */
  changes: Configuration;
  /** Whether there is anything to make a source with. */
  hasTokens: boolean;
  /** Called once the platform has confirmed. */
  confirmed(): Promise<void>;
}

/** Undefined if the platform fetches tokens on its own, or the source has no sign-in. */
export async function prepareHandOver(
  ctx: PipelinesContext,
  row: SourceRow,
  { configuration, credential }: Pick<NewPlatformConnector, 'configuration' | 'credential'>,
): Promise<HandOver | undefined> {
  if (!credential) return undefined;
  const { organization_id: organizationId, workspace_id: workspaceId } = row;
  const ref = { organizationId, workspaceId, credentialId: credential.id };
  if ((await ctx.platform.resolvesCredentials()) && (await makeServiceOwner(ctx, ref))) return undefined;
  const owned = await makePlatformOwner(ctx, ref);
  const open = owned && (await openAddressesWith(ctx, { ...ref, templateId: owned.source_template_id }));
  const values = owned && (await tokensToHandOver(ctx, owned, open ?? []));
  const bare = Object.values(credential.fields).reduce(withoutField, configuration);
  const whole = values ? mergeConfiguration(configuration, filledFields(credential, values)) : configuration;
  return {
    configuration: whole,
    changes: values && row.platform_id !== null ? whole : bare,
    hasTokens: values !== undefined,
    confirmed: async () => {
      if (owned) await recordHandedOver(ctx, ref, owned.generation);
    },
  };
}

/** Fields whose value the provider has not given keep their placeholder. */
function filledFields({ fields }: PlatformCredential, values: Record<string, string>): Configuration {
  return Object.entries(fields).reduce<Configuration>((filled, [name, path]) => {
    if (!Object.hasOwn(values, name)) return filled;
    return mergeConfiguration(
      filled,
      path.reduceRight<unknown>((value, key) => ({ [key]: value }), values[name]) as Configuration,
    );
  }, {});
}

function withoutField(configuration: Configuration, [key, ...rest]: readonly string[]): Configuration {
  if (key === undefined || !Object.hasOwn(configuration, key)) return configuration;
  const { [key]: inner, ...others } = configuration;
  if (rest.length === 0) return others;
  return isObject(inner) ? { ...configuration, [key]: withoutField(inner, rest) } : configuration;
}
