/* Templates at their places in a component: with the configuration, the component's parameters and the run's clock. */
import { isJsonObject } from '@inlay/protocol/json';
import { type ManifestPlace, placed, settingsIn } from './manifest/places.ts';
import {
  InterpolatedBoolean,
  InterpolatedMapping,
  InterpolatedNestedMapping,
  InterpolatedString,
} from './template/interpolation.ts';
import type { Clock, Names } from './template/template.ts';
import type { LiteralType } from './values/literals.ts';
import { pythonText } from './values/printing.ts';

export type { Names };

/** What templates of a component can always name. */
export interface TemplatePlace {
  config: Record<string, unknown>;
  parameters: Record<string, unknown>;
  clock: Clock;
  /** Path of the template in the manifest. */
  at?: ManifestPlace | undefined;
}

/** A template in a single field. */
export class TextTemplate {
  readonly #string: InterpolatedString;
  readonly #config: Record<string, unknown>;
  readonly #at: ManifestPlace | undefined;
  readonly #isPlain: boolean;
  /** The value of a text without braces, which never changes. */
  #plain: { value: unknown; types: readonly LiteralType[] | undefined } | undefined;

  constructor(source: string, { config, at, ...surroundings }: TemplatePlace) {
    this.#config = config;
    this.#at = at && { ...at, template: source };
    this.#string = new InterpolatedString(source, surroundings);
    this.#isPlain = !/\{[{%#]/.test(source);
  }

  /** The rendered text, read as a literal. */
  value(names: Names = {}, types?: readonly LiteralType[]): unknown {
    return this.valueWith({ config: this.#config, ...names }, types);
  }

  /** The same for a caller that passes the configuration among the names, so that many templates share one object. */
  valueWith(names: Names, types?: readonly LiteralType[]): unknown {
    if (!this.#isPlain) return placed(this.#at, () => this.#string.evaluate(names, types));
    if (this.#plain?.types === types && this.#plain) return this.#plain.value;
    const value = this.#string.evaluate(names, types);
    // A list or object is created each time: its owner may change it.
    if (typeof value !== 'object') this.#plain = { value, types };
    return value;
  }

  /** The same, written as Python writes it. */
  text(names: Names = {}): string {
    return pythonText(this.value(names));
  }

  /** The settings that the template takes from the configuration. */
  get settings(): string[] {
    return settingsIn(this.#string.source);
  }
}

export class Condition {
  readonly #condition: InterpolatedBoolean;
  readonly #config: Record<string, unknown>;
  readonly #at: ManifestPlace | undefined;

  constructor(source: string, { config, at, ...surroundings }: TemplatePlace) {
    this.#config = config;
    this.#at = at && { ...at, template: source };
    this.#condition = new InterpolatedBoolean(source, surroundings);
  }

  isMet(names: Names = {}): boolean {
    return placed(this.#at, () => this.#condition.evaluate({ config: this.#config, ...names }));
  }
}

/** Entries whose keys and values are templates, or one template for all of them. Null entries are omitted. */
export interface Mapping {
  value(names?: Names, types?: readonly LiteralType[]): Record<string, unknown> | string;
}

export function makeMapping(given: unknown, place: TemplatePlace): Mapping {
  if (typeof given === 'string') {
    const template = new TextTemplate(given, place);
    return {
      value(names, types) {
        const value = template.value(names, types);
        return isJsonObject(value) ? withoutNulls(value) : value === null ? {} : pythonText(value);
      },
    };
  }
  if (!isJsonObject(given)) return { value: () => ({}) };
  const { config, at, ...surroundings } = place;
  const mapping = new InterpolatedMapping(given, surroundings);
  return {
    value: (names = {}, types) => placed(at, () => withoutNulls(mapping.evaluate({ config, ...names }, types))),
  };
}

/** The same for objects within objects, as in the body of a request. */
export function makeNestedMapping(given: unknown, { config, at, ...surroundings }: TemplatePlace): Mapping {
  const mapping = new InterpolatedNestedMapping(given ?? {}, surroundings);
  return {
    value(names = {}) {
      const value = placed(at, () => mapping.evaluate({ config, ...names }));
      return isJsonObject(value) ? withoutNulls(value) : value === null ? {} : pythonText(value);
    },
  };
}

function withoutNulls(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null && item !== undefined));
}
