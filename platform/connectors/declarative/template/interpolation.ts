/*
 * The places of a manifest that may hold templates. What a missing key gives depends on the place: an empty text in a
 * single field, null in a mapping, false in a condition. A type error gives back the text of the template everywhere.
 *
 * Names are what the place may use (`config`, `record`, `stream_slice` …). `stream_partition` and `stream_interval` are
 * other names for `stream_slice`, and `parameters` is given once, with the place.
 */
import { isJsonObject } from '../../kit/json.ts';
import { isOfType, type LiteralType, readLiteral } from './literals.ts';
import { type Clock, compileTemplate, type Names, type Template } from './template.ts';
import { TemplateError } from './template-error.ts';

export interface Surroundings {
  /** The `$parameters` of the component. */
  parameters?: Names;
  clock: Clock;
}

/** One text. Gives any plain value: the rendered text is read as a literal. */
export class InterpolatedString {
  readonly source: string;
  private readonly template: Template;
  private readonly surroundings: Surroundings;

  /** Throws a TemplateError for a text that is no template. */
  constructor(source: string, surroundings: Surroundings) {
    this.source = source;
    this.template = compileTemplate(source);
    this.surroundings = surroundings;
  }

  /** With `types`, a literal of any other type stays text. Throws a TemplateError, also for a key below a missing key. */
  evaluate(names: Names, types?: readonly LiteralType[]): unknown {
    return interpret(renderOrSource(this.template, names, this.surroundings), types);
  }
}

/** A condition. */
export class InterpolatedBoolean {
  private readonly template: Template | boolean;
  private readonly surroundings: Surroundings;

  constructor(condition: string | boolean, surroundings: Surroundings) {
    this.template = typeof condition === 'boolean' ? condition : compileTemplate(condition);
    this.surroundings = surroundings;
  }

  evaluate(names: Names): boolean {
    if (typeof this.template === 'boolean') return this.template;
    return isTrue(interpret(renderOrUndefined(this.template, names, this.surroundings) || 'False'));
  }
}

/** Texts by key; keys and values are templates. A value that is not text stays as it is. */
export class InterpolatedMapping {
  private readonly entries: [Template, Template | { value: unknown }][];
  private readonly surroundings: Surroundings;

  constructor(mapping: Readonly<Record<string, unknown>>, surroundings: Surroundings) {
    this.surroundings = surroundings;
    this.entries = Object.entries(mapping).map(([key, value]) => [
      compileTemplate(key),
      typeof value === 'string' ? compileTemplate(value) : { value },
    ]);
  }

  /** Has null for each value with a missing key. The caller leaves those out. */
  evaluate(names: Names, valueTypes?: readonly LiteralType[]): Record<string, unknown> {
    const result: [string, unknown][] = [];
    for (const [key, value] of this.entries) {
      const name = interpret(renderOrUndefined(key, names, this.surroundings), ['text']);
      const found =
        'value' in value
          ? value.value
          : interpretOrNull(renderOrUndefined(value, names, this.surroundings), valueTypes);
      result.push([String(name), found]);
    }
    return Object.fromEntries(result);
  }
}

/** An object of objects, lists and texts, as in the body of a request. */
export class InterpolatedNestedMapping {
  private readonly mapping: unknown;
  private readonly surroundings: Surroundings;

  constructor(mapping: unknown, surroundings: Surroundings) {
    this.mapping = mapping;
    this.surroundings = surroundings;
  }

  /** Entries of objects that are null are left out. */
  evaluate(names: Names): unknown {
    return this.inside(this.mapping, names);
  }

  private inside(value: unknown, names: Names): unknown {
    if (typeof value === 'string') {
      return interpretOrNull(renderOrUndefined(compileTemplate(value), names, this.surroundings));
    }
    if (Array.isArray(value)) return value.map((item) => this.inside(item, names));
    if (!isJsonObject(value)) return value;
    const entries = Object.entries(value).map(([key, item]) => [this.inside(key, names), this.inside(item, names)]);
    return Object.fromEntries(entries.filter(([, item]) => item !== null).map(([key, item]) => [String(key), item]));
  }
}

/** False for the values that the reference takes for false, and no others: null is true. */
export function isTrue(value: unknown): boolean {
  if (typeof value === 'string') return !['False', 'false', '', '0', '0.0', '{}', '[]', '()'].includes(value);
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return Object.keys(value).length > 0;
  return !(value === false || Number(value ?? 1) === 0);
}

function interpret(text: string, types?: readonly LiteralType[]): unknown {
  const value = readLiteral(text);
  return types === undefined || isOfType(value, types) ? value : text;
}

function interpretOrNull(text: string, types?: readonly LiteralType[]): unknown {
  return text === '' ? null : interpret(text, types);
}

/** The text of the template itself if a type error stops the evaluation. */
function renderOrSource(template: Template, names: Names, { clock }: Surroundings): string {
  try {
    return template.renderText(names, clock);
  } catch (error) {
    if (error instanceof TemplateError && error.fault === 'type') return template.source;
    throw error;
  }
}

/** Nothing if a key below a missing key stops the evaluation. */
function renderOrUndefined(template: Template, names: Names, surroundings: Surroundings): string {
  try {
    return renderOrSource(template, names, surroundings);
  } catch (error) {
    if (error instanceof TemplateError && error.fault === 'missing') return '';
    throw error;
  }
}
