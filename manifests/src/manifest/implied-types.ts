/* Adds the types that components omit if their place allows only one. */
import { isJsonObject } from '@inlay/protocol/json';
import type { ComponentDefinition, Kind } from '../component.ts';

type Definitions = (name: string) => ComponentDefinition | undefined;

/**
 * A copy in which every component has a type, as far as its place implies it. Schemas and similar objects are
 * unchanged.
 */
export function withTypes<Value>(value: Value, kind: Kind, definitions: Definitions): Value {
  return typed(value, kind, definitions) as Value;
}

function typed(value: unknown, kind: Kind, definitions: Definitions): unknown {
  if (Array.isArray(value)) {
    const items = kindFor(kind, 'list');
    return items?.is === 'list' ? value.map((item) => typed(item, items.of, definitions)) : value;
  }
  if (!isJsonObject(value)) return value;
  const component = kindFor(kind, 'component');
  if (component?.is === 'component') return typedComponent(value, component.of, definitions);
  const mapping = kindFor(kind, 'mapping');
  if (mapping?.is !== 'mapping') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, typed(item, mapping.of, definitions)]));
}

function kindFor(kind: Kind, shape: Kind['is']): Kind | undefined {
  return kind.is === 'either' ? kind.of.find((one) => one.is === shape) : kind.is === shape ? kind : undefined;
}

function typedComponent(
  value: Record<string, unknown>,
  names: readonly string[],
  definitions: Definitions,
): Record<string, unknown> {
  const possible = names.filter((name) => !name.startsWith('Custom'));
  const implied = 'class_name' in value || possible.length !== 1 ? undefined : possible[0];
  const type = value.type ?? implied;
  const definition = definitions(String(type));
  if (!definition) return value;
  const result: Record<string, unknown> = { ...value, type };
  for (const [name, { kind }] of Object.entries(definition.options)) {
    const given = result[name];
    if (typeof given === 'object' && given !== null) result[name] = typed(given, kind, definitions);
  }
  return result;
}
