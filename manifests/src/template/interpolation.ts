/*
 * The places in a manifest that may contain templates. A missing key yields an empty string in a single field, null in
 * a mapping, and false in a condition. A type error always returns the template's text. A template is parsed when first
 * rendered: one that is never rendered cannot fail its stream.
 *
 * Names are what the place may use (`config`, `record`, `stream_slice` …). `stream_partition` and `stream_interval` are
 * other names for `stream_slice`, and `parameters` is given once, with the place.
 */
import { isJsonObject } from '@inlay/protocol/json';
import { isOfType, type LiteralType, readLiteral } from '../values/literals.ts';
import { plainCopy } from '../values/plain-data.ts';
import { pythonText } from '../values/printing.ts';
import { TemplateError } from '../values/template-error.ts';
import { compileTemplate, type Template } from './template.ts';
import type { Clock, Names } from './world.ts';

export interface Surroundings {
  /** The `$parameters` of the component. */
  parameters?: Names | undefined;
  clock: Clock;
}

/** One text. Gives any plain value: the rendered text is read as a literal. */
export class InterpolatedString {
  readonly source: string;
  private template: Template | undefined;
  private readonly surroundings: Surroundings;

  constructor(source: string, surroundings: Surroundings) {
    this.source = source;
    this.surroundings = surroundings;
  }

  /**
   * With `types`, a literal of any other type stays text. Throws a TemplateError, also for a key below a missing key.
   */
  evaluate(names: Names, types?: readonly LiteralType[]): unknown {
    this.template ??= compileTemplate(this.source);
    return evaluateOrSource(this.template, names, this.surroundings, types);
  }
}

/** A condition. */
export class InterpolatedBoolean {
  private readonly condition: string | boolean;
  private template: Template | undefined;
  private readonly surroundings: Surroundings;

  constructor(condition: string | boolean, surroundings: Surroundings) {
    this.condition = condition;
    this.surroundings = surroundings;
  }

  evaluate(names: Names): boolean {
    if (typeof this.condition === 'boolean') return this.condition;
    this.template ??= compileTemplate(this.condition);
    const value = evaluateOrNothing(this.template, names, this.surroundings);
    // Null is a value, and counts as true.
    return value !== undefined && isTrue(value);
  }
}

/** Texts by key; keys and values are templates. A value that is not text is unchanged. */
export class InterpolatedMapping {
  private readonly mapping: Readonly<Record<string, unknown>>;
  private entries: [Template, Template | { value: unknown }][] | undefined;
  private readonly surroundings: Surroundings;

  constructor(mapping: Readonly<Record<string, unknown>>, surroundings: Surroundings) {
    this.mapping = mapping;
    this.surroundings = surroundings;
  }

  /** Has null for each value with a missing key. The caller omits those. */
  evaluate(names: Names, valueTypes?: readonly LiteralType[]): Record<string, unknown> {
    this.entries ??= Object.entries(this.mapping).map(([key, value]) => [
      compileTemplate(key),
      typeof value === 'string' ? compileTemplate(value) : { value },
    ]);
    const result: [string, unknown][] = [];
    for (const [key, value] of this.entries) {
      const name = evaluateOrNothing(key, names, this.surroundings, ['text']);
      const found =
        'value' in value ? value.value : (evaluateOrNothing(value, names, this.surroundings, valueTypes) ?? null);
      result.push([pythonText(name ?? null), found]);
    }
    return Object.fromEntries(result);
  }
}

/** An object of objects, lists and texts, as in the body of a request. */
export class InterpolatedNestedMapping {
  private readonly mapping: unknown;
  private readonly surroundings: Surroundings;
  private evaluateNested: ((names: Names) => unknown) | undefined;

  constructor(mapping: unknown, surroundings: Surroundings) {
    this.mapping = mapping;
    this.surroundings = surroundings;
  }

  /** Null entries of objects are omitted. */
  evaluate(names: Names): unknown {
    this.evaluateNested ??= nested(this.mapping, this.surroundings);
    return this.evaluateNested(names);
  }
}

function nested(value: unknown, surroundings: Surroundings): (names: Names) => unknown {
  if (typeof value === 'string') {
    const template = compileTemplate(value);
    return (names) => evaluateOrNothing(template, names, surroundings) ?? null;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => nested(item, surroundings));
    return (names) => items.map((item) => item(names));
  }
  if (!isJsonObject(value)) return () => value;
  const entries = Object.entries(value).map(
    ([key, item]) => [nested(key, surroundings), nested(item, surroundings)] as const,
  );
  return (names) => {
    const found: [string, unknown][] = [];
    for (const [key, item] of entries) {
      const inside = item(names);
      if (inside !== null) found.push([pythonText(key(names)), inside]);
    }
    return Object.fromEntries(found);
  };
}

const falseTexts = new Set(['False', 'false', '', '0', '0.0', '{}', '[]', '()']);

/** False for the values that the reference takes for false, and no others: null is true. */
export function isTrue(value: unknown): boolean {
  if (typeof value === 'string') return !falseTexts.has(value);
  if (value === null) return true;
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return Object.keys(value).length > 0;
  return Number(value) !== 0;
}

/** The text of the template itself if a type error stops the evaluation. */
function evaluateOrSource(
  template: Template,
  names: Names,
  { clock, parameters }: Surroundings,
  types: readonly LiteralType[] | undefined,
): unknown {
  let text: string;
  try {
    const single = template.evaluateSingle(names, clock, parameters);
    if (single) {
      const plain = plainCopy(single.value);
      // Printed and read again, plain data would be the same.
      if (plain && (types === undefined || isOfType(plain.value, types))) return plain.value;
    }
    text = single ? pythonText(single.value) : template.renderText(names, clock, parameters);
  } catch (error) {
    if (!(error instanceof TemplateError && error.fault === 'type')) throw error;
    text = template.source;
  }
  const value = readLiteral(text);
  return types === undefined || isOfType(value, types) ? value : text;
}

/** Undefined if the template yields no text, or a key below a missing key stops the evaluation. */
function evaluateOrNothing(
  template: Template,
  names: Names,
  surroundings: Surroundings,
  types?: readonly LiteralType[],
): unknown {
  try {
    const value = evaluateOrSource(template, names, surroundings, types);
    return value === '' ? undefined : value;
  } catch (error) {
    if (error instanceof TemplateError && error.fault === 'missing') return undefined;
    throw error;
  }
}
