/** Who gets into the console by a sign-in with the operator's own provider (OpenID Connect). */
import type { OperatorPermission } from '@inlay/contract/fields';

export interface OidcRule {
  claim: string;
  value: string;
  permission: OperatorPermission;
  /** Undefined: the first organization. */
  organizationId: string | undefined;
}

export interface OidcSettings {
  issuer: string;
  clientId: string;
  scopes: string;
  /** The first rule that fits counts. */
  rules: readonly OidcRule[];
}

const permissions: readonly string[] = ['full', 'operator', 'read'] satisfies OperatorPermission[];
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Undefined where the text is not a list of rules. */
export function readOidcRules(text: string): OidcRule[] | undefined {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(given) || given.length === 0) return undefined;
  const rules = given.map(readRule);
  return rules.every((rule) => rule !== undefined) ? rules : undefined;
}

function readRule(given: unknown): OidcRule | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { claim, value, permission, organization, ...others } = given as Record<string, unknown>;
  const isRule =
    typeof claim === 'string' &&
    claim !== '' &&
    typeof value === 'string' &&
    value !== '' &&
    typeof permission === 'string' &&
    permissions.includes(permission) &&
    (organization === undefined || (typeof organization === 'string' && uuid.test(organization))) &&
    // A member with a typing error could otherwise let in more people than meant.
    Object.keys(others).length === 0;
  if (!isRule) return undefined;
  const organizationId = organization === undefined ? undefined : String(organization).toLowerCase();
  return { claim, value, permission: permission as OperatorPermission, organizationId };
}

/** A claim is a text or a list of texts. An address counts only if the provider has verified it. */
export function findRule(rules: readonly OidcRule[], claims: Readonly<Record<string, unknown>>): OidcRule | undefined {
  return rules.find(({ claim, value }) => {
    if (!Object.hasOwn(claims, claim) || (claim === 'email' && claims.email_verified !== true)) return false;
    const given = claims[claim];
    return Array.isArray(given) ? given.includes(value) : given === value;
  });
}
