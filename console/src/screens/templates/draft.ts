/**
 * A template draft: one object, shown as a form and as JSON. A change in the form creates a new object; a change of the JSON is
 * parsed into one.
 *
 * Invariant: a change in one place leaves all other members, known or not, unchanged and in order.
 */
import { isObject, listSecrets } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import { memberOf, type Path, withValueAt } from '@inlay/ui/form/configuration.ts';
import { type ChoiceField, type Field, fixedValue, type ObjectField, optionsOf } from '@inlay/ui/form/fields.ts';

export type Draft = Record<string, unknown>;

export const textOf = (draft: Draft) => JSON.stringify(draft, null, 2);

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(memberOf, value);
}

/** Undefined removes the member. */
export function changed(draft: Draft, path: Path, value: unknown): Draft {
  return withValueAt(draft, path, value) as Draft;
}

/** Removes the member and every object that it leaves empty, because an empty object would ask customers for all its fields. */
export function withoutValue(draft: Draft, path: Path, from: number): Draft {
  const next = changed(draft, path, undefined);
  const outer = path.slice(0, -1);
  const left = valueAt(next, outer);
  const isEmpty = isObject(left) && Object.keys(left).length === 0;
  return outer.length > from && isEmpty ? withoutValue(next, outer, from) : next;
}

/** `fixed`: the operator sets the value, and customers never see the field. `asked`: customers fill it in. `hidden`: no one sets it. */
export const modes = ['fixed', 'asked', 'hidden'] as const;
export type Mode = (typeof modes)[number];

export const configField = 'partial_default_config';
const customizationsPath = ['customization', 'field_customizations'] as const;

interface CustomizedField {
  hidden?: boolean | undefined;
  /** Prefilled in the customer's form. */
  default?: unknown;
}
type FieldCustomization = CustomizedField & { path: string[] };

function customizationsIn(draft: Draft): FieldCustomization[] {
  const given = valueAt(draft, customizationsPath);
  return Array.isArray(given) ? given.filter((one) => isObject(one) && Array.isArray(one.path)) : [];
}

const isSamePath = (a: readonly unknown[], b: readonly unknown[]) => JSON.stringify(a) === JSON.stringify(b);

export function customizationAt(draft: Draft, path: Path): FieldCustomization | undefined {
  return customizationsIn(draft).find((one) => isSamePath(one.path, path));
}

/** Keeps all other entries, including those that the console does not know. */
export function withCustomization(draft: Draft, path: Path, change: CustomizedField): Draft {
  const given = valueAt(draft, customizationsPath);
  const all: unknown[] = Array.isArray(given) ? given : [];
  const at = all.findIndex((one) => isObject(one) && Array.isArray(one.path) && isSamePath(one.path, path));
  const before = at < 0 ? { path: path.map(String) } : (all[at] as FieldCustomization);
  const entries = Object.entries({ ...before, ...change }).filter(([, value]) => value !== undefined);
  const isLeft = entries.some(([name]) => name !== 'path');
  const entry = isLeft ? [Object.fromEntries(entries)] : [];
  if (at < 0 && !isLeft) return draft;
  const next = at < 0 ? [...all, ...entry] : all.toSpliced(at, 1, ...entry);
  return changed(draft, customizationsPath, next.length > 0 ? next : undefined);
}

/** The mode of a field that is fixed as a whole. `path` is relative to the configuration. */
export function modeOf(draft: Draft, path: Path): Mode {
  if (valueAt(draft, [configField, ...path]) !== undefined) return 'fixed';
  return customizationAt(draft, path)?.hidden === true ? 'hidden' : 'asked';
}

export function withMode(draft: Draft, field: Field, path: Path, mode: Mode): Draft {
  if (mode === modeOf(draft, path)) return draft;
  if (mode === 'fixed') {
    const open = withCustomization(draft, path, { hidden: undefined, default: undefined });
    return changed(open, [configField, ...path], firstValue(field));
  }
  const without = valueAt(draft, [configField, ...path]) === undefined ? draft : withoutConfig(draft, path);
  return withCustomization(
    without,
    path,
    mode === 'hidden' ? { hidden: true, default: undefined } : { hidden: undefined },
  );
}

export const withoutConfig = (draft: Draft, path: Path) => withoutValue(draft, [configField, ...path], 1);

/** The initial value of a fixed field. It needs one, because having a value is what makes it fixed. */
export function firstValue(field: Field): unknown {
  const { schema, kind } = field;
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  switch (kind) {
    case 'constant':
      return fixedValue(schema);
    case 'switch':
      return false;
    case 'select':
      return optionsOf(schema)?.[0]?.value ?? '';
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 0;
    case 'list':
    case 'checkboxes':
    case 'objects':
      return [];
    case 'json':
      return schema.type === 'array' ? [] : {};
    case 'object':
    case 'choice':
      return {};
    default:
      return '';
  }
}

/** Whether the operator can choose a variant for customers: each has a constant that identifies it. */
export function isTagged({ branches }: ChoiceField): boolean {
  return branches.every(({ fields }) => fields.some(({ kind }) => kind === 'constant'));
}

/** Chooses a variant. Keeps fields that the variants share and unknown ones. Undefined: customers choose. */
export function withBranch(
  draft: Draft,
  path: Path,
  from: ObjectField | undefined,
  to: ObjectField | undefined,
): Draft {
  if (!to) return withoutConfig(draft, path);
  const before = valueAt(draft, [configField, ...path]);
  const kept = isObject(before) ? before : {};
  const known = new Set(to.fields.map(({ key }) => key));
  const gone = new Set((from?.fields ?? []).map(({ key }) => key).filter((key) => !known.has(key)));
  const constants = to.fields
    .filter(({ kind }) => kind === 'constant')
    .map(({ key, schema }) => [key, fixedValue(schema)]);
  const others = Object.entries(kept).filter(([key]) => !gone.has(key));
  const open = withCustomization(draft, path, { hidden: undefined });
  return changed(open, [configField, ...path], { ...Object.fromEntries(others), ...Object.fromEntries(constants) });
}

/** The secrets of the configuration, to keep them out of what is shown or copied. */
export function secretsIn(
  kind: 'source' | 'connection',
  draft: Draft,
  specification: ConnectorSpecification,
): string[] {
  const given = draft[kind === 'source' ? configField : 'destination_config'];
  return isObject(given) ? listSecrets(specification.connectionSpecification, given) : [];
}
