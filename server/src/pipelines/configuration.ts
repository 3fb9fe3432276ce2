/** A source's configuration: the customer's part and the template's together. */
import {
  type Configuration,
  keepMaskedSecrets,
  mergeConfiguration,
} from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import { configurationFaults, redirectedSecretFaults } from '../catalog/definitions/configuration-faults.ts';
import { AppError } from '../kernel/errors.ts';

/** The customer decides only what the template leaves open. */
export function mergeWithDefaults(given: Configuration, defaults: Configuration): Configuration {
  return mergeConfiguration(given, defaults);
}

/**
 * The customer's part as it is stored, with masks replaced by the stored secrets. Throws if it is not a valid
 * configuration together with the template's part, or if a masked secret would go to another address than before.
 */
export function acceptConfiguration(
  specification: ConnectorSpecification,
  {
    given,
    stored,
    defaults,
    signIn,
  }: {
    given: Configuration;
    stored: Configuration;
    defaults: Configuration;
    signIn?: {
      placeholders: Configuration | undefined;
      isNew: boolean;
      /** The whole configuration of another source with the same sign-in. */
      usedWith?: Configuration | undefined;
    };
  },
): Configuration {
  const placeholders = signIn?.placeholders ?? {};
  const kept = keepMaskedSecrets(specification.connectionSpecification, given, stored);
  const accepted = mergeConfiguration(kept, placeholders);
  const merged = mergeWithDefaults(accepted, defaults);
  const at = ['body', 'source_config'];
  const faults = [
    ...redirectedSecretFaults(
      specification,
      // Tokens stay with their address as secrets do, unless the customer has just signed in.
      {
        given: signIn?.isNew && !signIn.usedWith ? mergeConfiguration(given, placeholders) : given,
        accepted,
        before: signIn?.usedWith ?? mergeWithDefaults(stored, defaults),
        after: merged,
      },
      at,
    ),
    ...configurationFaults(specification, merged, at),
  ];
  if (faults.length > 0) throw new AppError('invalid_request', { faults });
  return accepted;
}
