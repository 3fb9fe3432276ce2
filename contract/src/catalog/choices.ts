/**
 * Choices in a connector's specification: an object with several variants (`oneOf`), distinguished by a text property
 * (the tag) with a constant value in each variant.
 */
import { isObject, type JsonSchema } from './connector-configuration.ts';

export interface Choice {
  /** The property whose value identifies the variant. */
  tag: string;
  /** Variants by tag value. */
  forms: Map<string, JsonSchema>;
}

/** Undefined if the schema offers no choice or has no tag. */
export function choiceOf(schema: JsonSchema): Choice | undefined {
  if (!Array.isArray(schema.oneOf) || schema.oneOf.length === 0) return undefined;
  const branches = schema.oneOf.filter(isObject);
  const [first] = branches;
  if (!first || branches.length < schema.oneOf.length || !isObject(first.properties)) return undefined;
  for (const tag of Object.keys(first.properties)) {
    const forms = new Map<string, JsonSchema>();
    for (const branch of branches) {
      const value = fixedValue(branch, tag);
      if (value !== undefined) forms.set(value, branch);
    }
    if (forms.size === branches.length) return { tag, forms };
  }
  return undefined;
}

/** Newer specifications say `const`; older ones use an enumeration with one value. */
function fixedValue({ properties }: JsonSchema, name: string): string | undefined {
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (!isObject(property)) return undefined;
  const value =
    property.const ?? (Array.isArray(property.enum) && property.enum.length === 1 ? property.enum[0] : null);
  return typeof value === 'string' ? value : undefined;
}
