/**
 * Tokens of a sign-in on a hosted platform, which cannot ask this service for them. The platform gets them once, in the
 * configuration of the source, when the source is made and when its customer has signed in again. From then on the platform,
 * or its connector, refreshes them: what this service had is dropped as soon as the platform has confirmed.
 *
 * What always holds: a configuration that is written later lacks the fields of the sign-in, and is merged into the one that the
 * platform has, so it never puts an old token in the place of a new one.
 */
import { type Configuration, isObject, mergeConfiguration } from '@inlay/contract/connector-configuration';
import type { Db } from '../db/open.ts';
import type { SourceRow } from '../db/tables.ts';
import type { NewPlatformConnector, PlatformCredential } from '../platform/pipelines-port.ts';
import type { PipelinesContext, TokensForPlatform } from './context.ts';
import { wakeSourcesOfCredential } from './sources.store.ts';

export interface HandOver {
  /** With tokens in it, if the platform is to get any. */
  configuration: Configuration;
  /** For a source that the platform has: without the fields of the sign-in, unless the platform is to get new tokens. */
  changes: Configuration;
  /** Whether there is anything to make a source with. */
  hasTokens: boolean;
  /** To be called when the platform has confirmed. */
  confirmed(): Promise<void>;
}

/** Undefined: the platform asks for tokens by itself, or the source has no sign-in. */
export async function prepareHandOver(
  ctx: PipelinesContext,
  row: SourceRow,
  { configuration, credential }: Pick<NewPlatformConnector, 'configuration' | 'credential'>,
): Promise<HandOver | undefined> {
  if (!credential || (await ctx.platform.resolvesCredentials())) return undefined;
  const ref = { organizationId: row.organization_id, workspaceId: row.workspace_id, id: credential.id };
  const tokens = await ctx.credentials.toHandOver(ref);
  const bare = Object.values(credential.fields).reduce(withoutField, configuration);
  const whole = tokens ? mergeConfiguration(configuration, filledFields(credential, tokens)) : configuration;
  return {
    configuration: whole,
    changes: tokens && row.platform_id !== null ? whole : bare,
    hasTokens: tokens !== undefined,
    confirmed: async () => {
      if (tokens) await ctx.credentials.handedOver(ref, tokens.generation);
    },
  };
}

/** The customer has signed in again: the worker brings the platform the new tokens. */
export async function handOverAgain(
  tx: Db,
  { workspaceId, credentialId }: { workspaceId: string; credentialId: string },
): Promise<void> {
  await wakeSourcesOfCredential(tx, workspaceId, credentialId);
}

/** Fields whose value the provider has not given keep their placeholder. */
function filledFields({ fields }: PlatformCredential, { values }: TokensForPlatform): Configuration {
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
