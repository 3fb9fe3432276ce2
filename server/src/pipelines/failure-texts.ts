/**
 * Every failure has two readers. The operator reads everything, without secrets. The customer reads only what the
 * customer has given and can change: what a template has set, what is at the destination and what the platform does is
 * the operator's, and the customer reads that there is a problem on the product's side. Decided here and nowhere else.
 * Pure.
 *
 * What always holds: no value that a template has set is in a text for the customer.
 */
import {
  type Configuration,
  describedBy,
  isObject,
  type JsonSchema,
  listSecrets,
  textsIn,
} from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import { sayReason } from '@inlay/contract/reason-words';
import type { Reason } from '@inlay/contract/reasons';
import { redactor } from '@inlay/contract/text/redaction';
import { userConfigSpec } from '../catalog/forms/user-config-spec.ts';
import type { ConnectorFailure, ConnectorWarning } from '../kernel/platform/pipelines-port.ts';
import { type AudienceWarnings, type FailureTexts, operatorsOnly } from './two-texts.ts';

/** Which fields the operator set and which the customer entered. */
export interface ConfigurationParts {
  /** Undefined while the definition of the connector is not available: then nothing is known about its fields. */
  specification: ConnectorSpecification | undefined;
  /** What the template has set. */
  defaults: Configuration;
  /** What the customer has given. */
  given: Configuration;
}

/** For a failure of, or with, a source that has this configuration. */
export function failureTexts(failure: ConnectorFailure, parts: ConfigurationParts): FailureTexts {
  const operator = withoutSecrets(failure.message, parts);
  const said = reasonOf(failure);
  const operators = operatorsOnly(said, operator);
  if (failure.origin !== 'source' || failure.type === 'system_error') return operators;
  const { all, open } = schemasOf(parts);
  const named = (failure.fields ?? []).map((field) => field.split('.')).filter((path) => all && schemasAt(all, path));
  const entered = named.filter((path) => open && schemasAt(open, path) && valueAt(parts.given, path) !== undefined);
  const isSetByTemplate = named.some((path) => valueAt(parts.defaults, path) !== undefined);
  // What the customer has not entered is at fault only where nothing of the template can be.
  const changeable = entered.length > 0 || isSetByTemplate ? entered : named;
  const isHidden = mentions(operator, operatorsValues(all, parts.defaults));
  if (named.length > 0) {
    if (changeable.length === 0) return operators;
    if (!isHidden)
      return { operator, customer: operator, reasons: { operator: said, customer: said }, whose: 'customer' };
    const fields = changeable.map((path) => titleAt(all, path));
    const check: Reason = { code: 'check_fields', parameters: { fields } };
    return {
      operator,
      customer: sayReason(check, 'customer'),
      reasons: { operator: said, customer: check },
      whose: 'customer',
    };
  }
  // The connector names no settings, so only the message shows whose problem it is.
  const hasNothingToChange = open !== undefined && !hasFields(open);
  if (isHidden || hasNothingToChange || namesForeignPlace(operator, parts)) return operators;
  return { operator, customer: operator, reasons: { operator: said, customer: said }, whose: 'customer' };
}

/** Only the message of a connector or of the platform says what happened, unless the failure is this service's own. */
export function reasonOf({ origin, reason }: Pick<ConnectorFailure, 'origin' | 'reason'>): Reason {
  return reason ?? { code: origin === 'platform' ? 'platform_error' : 'connector_error', parameters: {} };
}

/** What of the warnings of a check each may read: a customer only those that the customer can do something about. */
export function warningsFor(warnings: readonly ConnectorWarning[], parts: ConfigurationParts): AudienceWarnings {
  const read = warnings.map(({ fields, ...warning }) => {
    const texts = failureTexts({ message: warning.message, origin: 'source', fields }, parts);
    const isOpen = texts.whose === 'customer' && texts.customer === texts.operator;
    return { warning: { ...warning, message: texts.operator }, isOpen };
  });
  return {
    operator: read.map(({ warning }) => warning),
    customer: read.flatMap(({ warning, isOpen }) => (isOpen ? [warning] : [])),
  };
}

/** Whether a text shows something that the template has set. */
export function showsDefaults(text: string, { specification, defaults }: ConfigurationParts): boolean {
  return mentions(text, operatorsValues(specification?.connectionSpecification, defaults));
}

function withoutSecrets(message: string, { specification, defaults, given }: ConfigurationParts): string {
  // Without the specification nobody knows what is secret.
  const secretsOf = (configuration: Configuration) =>
    specification ? listSecrets(specification.connectionSpecification, configuration) : textsIn(configuration);
  return redactor([...secretsOf(defaults), ...secretsOf(given)]).redact(message);
}

function schemasOf({ specification, defaults }: ConfigurationParts) {
  if (!specification) return { all: undefined, open: undefined };
  const open = userConfigSpec(specification, defaults).connectionSpecification;
  return { all: specification.connectionSpecification, open };
}

/** The schemas of a field, in whichever branch it stands; undefined if there is no such field. */
function schemasAt(specification: JsonSchema, path: readonly string[]): JsonSchema[] | undefined {
  let schemas = [specification];
  for (const key of path) schemas = describedBy(schemas).flatMap((schema) => propertyOf(schema, key));
  return schemas.length > 0 ? schemas : undefined;
}

function valueAt(configuration: Configuration, path: readonly string[]): unknown {
  let value: unknown = configuration;
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

function propertyOf({ properties }: JsonSchema, key: string): JsonSchema[] {
  const property = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  return isObject(property) ? [property] : [];
}

function titleAt(specification: JsonSchema | undefined, path: readonly string[]): string {
  const titles = (specification && schemasAt(specification, path))?.map(({ title }) => title) ?? [];
  return String(titles.find((title) => typeof title === 'string') ?? path.at(-1));
}

function hasFields(specification: JsonSchema): boolean {
  return describedBy([specification]).some(
    ({ properties }) => isObject(properties) && Object.keys(properties).length > 0,
  );
}

/** What the template has set, as text; not the choice between forms, which the specification itself names. */
function operatorsValues(specification: JsonSchema | undefined, defaults: Configuration): string[] {
  return valuesIn(specification ? [specification] : [], defaults);
}

function valuesIn(schemas: readonly JsonSchema[], value: unknown): string[] {
  const described = describedBy(schemas);
  if (Array.isArray(value)) {
    const items = described.flatMap(({ items }) => (isObject(items) ? [items] : []));
    return value.flatMap((item) => valuesIn(items, item));
  }
  if (isObject(value)) {
    return Object.entries(value).flatMap(([key, member]) =>
      valuesIn(
        described.flatMap((schema) => propertyOf(schema, key)),
        member,
      ),
    );
  }
  const isNamedBySpecification = described.some((schema) => schema.const !== undefined || Array.isArray(schema.enum));
  return isNamedBySpecification ? [] : textsIn(value);
}

function mentions(text: string, values: readonly string[]): boolean {
  return values.flatMap(partsOf).some((part) => occurs(text, part));
}

/** A connector may quote a value in part: the server of an address, the name of a file. */
function partsOf(value: string): string[] {
  const url = URL.canParse(value) && value.includes('://') ? new URL(value) : undefined;
  const path = url?.pathname ?? (value.includes('/') ? value : '');
  const segments = path
    .split('/')
    .map(decoded)
    .filter((segment) => /[\d._-]/.test(segment) || segment.length >= 8);
  return [
    value,
    value.trim(),
    ...(url ? [url.host, url.hostname] : []),
    ...(path.length > 3 ? [path] : []),
    ...segments,
  ];
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // Not encoded, and so its own text.
  }
}

/** A short part must be a whole word: a text of two letters is inside many words. */
function occurs(text: string, part: string): boolean {
  if (part.length < 2) return false;
  const [where, what] = [text.toLowerCase(), part.toLowerCase()];
  for (let at = where.indexOf(what); at !== -1; at = where.indexOf(what, at + 1)) {
    const isInsideWord = isWordCharacter(where[at - 1]) || isWordCharacter(where[at + what.length]);
    if (!isInsideWord || what.length >= 8) return true;
  }
  return false;
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}

const places =
  /[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+|\b\d{1,3}(?:\.\d{1,3}){3}\b|\[[0-9a-f:]+\]|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*:\d{2,5}\b/gi;

/** The address of a server that the customer has not given, where the template has given anything at all. */
function namesForeignPlace(text: string, { defaults, given }: ConfigurationParts): boolean {
  if (textsIn(defaults).length === 0) return false;
  const own = textsIn(given).flatMap(partsOf);
  return (text.match(places) ?? []).some((place) => !own.some((value) => value !== '' && occurs(place, value)));
}
