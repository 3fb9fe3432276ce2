/*
 * What a component of the language is: a name, options with their kinds, and a way to make the part of a source that it
 * describes. Validation and the reference page are made from these definitions.
 */

import { isJsonObject } from '@inlay/protocol/json';
import type { ConfiguredStream } from '@inlay/protocol/protocol';
import {
  Condition,
  type Mapping,
  makeMapping,
  makeNestedMapping,
  type TemplatePlace,
  TextTemplate,
} from './interpolation.ts';
import { type ManifestPlace, placed } from './manifest/places.ts';
import { asText } from './manifest/problems.ts';
import type { Run } from './run/run.ts';

/** The steps in which the language was built, by how many published manifests need a component. */
export type Step = 'S1' | 'S2' | 'S3' | 'S4';

export type Kind =
  | { is: 'text' | 'string' | 'template' | 'condition' | 'integer' | 'number' | 'boolean' | 'anything' | 'schema' }
  | { is: 'choice'; of: readonly string[] }
  | { is: 'list'; of: Kind }
  | { is: 'mapping'; of: Kind }
  | { is: 'component'; of: readonly string[] }
  | { is: 'either'; of: readonly Kind[] };

export const text: Kind = { is: 'text' };
/** A text with expressions in double braces. */
export const template: Kind = { is: 'template' };
/** The same where numbers and truth values are not taken for texts. */
export const string: Kind = { is: 'string' };
/** A template whose result counts as true or false. */
export const condition: Kind = { is: 'condition' };
export const integer: Kind = { is: 'integer' };
export const number: Kind = { is: 'number' };
export const boolean: Kind = { is: 'boolean' };
export const anything: Kind = { is: 'anything' };
/** A JSON schema. */
export const schema: Kind = { is: 'schema' };
export const choice = (...of: string[]): Kind => ({ is: 'choice', of });
export const list = (of: Kind): Kind => ({ is: 'list', of });
export const mapping = (of: Kind): Kind => ({ is: 'mapping', of });
export const component = (...of: string[]): Kind => ({ is: 'component', of });
export const either = (...of: Kind[]): Kind => ({ is: 'either', of });

export interface Option {
  kind: Kind;
  words: string;
  isRequired?: boolean;
  default?: unknown;
  /** Accepted so that manifests can be read, but without effect. Authors get a warning. */
  hasNoEffect?: boolean;
}

export const required = (kind: Kind, words: string): Option => ({ kind, words, isRequired: true });
export const optional = (kind: Kind, words: string, byDefault?: unknown): Option => ({
  kind,
  words,
  ...(byDefault !== undefined && { default: byDefault }),
});

export const withoutEffect = (kind: Kind, words: string): Option => ({ kind, words, hasNoEffect: true });

export interface ComponentDefinition {
  name: string;
  step: Step;
  words: string;
  options: Record<string, Option>;
  /** What is wrong with options that are each fine alone, or of a kind that only some places have. */
  rule?: (values: Record<string, unknown>) => string | undefined;
  /** A warning for authors who use the component: which parts have no effect here. */
  note?: (values: Record<string, unknown>) => string | undefined;
  /** Missing for a component that only other components read, such as the description of a field. */
  make?: (given: Given) => unknown;
}

/** What a component provides to the components inside it. */
export type Surroundings = Record<string, unknown>;

/** Everything needed to create a component, besides its options. */
export interface Making {
  config: Record<string, unknown>;
  run: Run;
  /** The name of the stream that the component belongs to. */
  streamName: string;
  /** What the catalog says of the streams that are read; none for other commands. */
  configured: ReadonlyMap<string, ConfiguredStream>;
  definition(name: string): ComponentDefinition | undefined;
}

/** A component's options in the manifest, already validated against the definition. */
export class Given {
  readonly values: Record<string, unknown>;
  readonly parameters: Record<string, unknown>;
  readonly making: Making;
  readonly around: Surroundings;
  /** Path of the options in the manifest, for errors. */
  readonly #at: ManifestPlace;

  constructor(
    values: Record<string, unknown>,
    making: Making,
    around: Surroundings = {},
    at: ManifestPlace = { component: values },
  ) {
    this.#at = at;
    this.values = values;
    this.parameters = isJsonObject(values.$parameters) ? values.$parameters : {};
    this.making = making;
    this.around = around;
  }

  get config(): Record<string, unknown> {
    return this.making.config;
  }

  get run(): Run {
    return this.making.run;
  }

  get place(): TemplatePlace {
    return { config: this.config, parameters: this.parameters, clock: () => this.run.clock.now(), at: this.#at };
  }

  /** An option of these, for errors. */
  at(name: string): ManifestPlace {
    const { component, option } = this.#at;
    return { component, option: option === undefined ? name : `${option}.${name}` };
  }

  get type(): string {
    return asText(this.values.type);
  }

  has(name: string): boolean {
    return this.values[name] !== undefined && this.values[name] !== null;
  }

  value(name: string): unknown {
    return this.values[name] ?? undefined;
  }

  text(name: string): string | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : asText(value);
  }

  flag(name: string, byDefault = false): boolean {
    const value = this.value(name);
    return value === undefined ? byDefault : value === true;
  }

  number(name: string): number | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : Number(value);
  }

  texts(name: string): string[] {
    const value = this.value(name);
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** A template in a single field. Undefined for an option that is not set. */
  template(name: string): TextTemplate | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : new TextTemplate(asText(value), { ...this.place, at: this.at(name) });
  }

  asTemplate(value: string): TextTemplate {
    return new TextTemplate(value, this.place);
  }

  /** The result of a template that depends only on the configuration. */
  rendered(name: string, byDefault?: string): unknown {
    return (this.template(name) ?? (byDefault === undefined ? undefined : this.asTemplate(byDefault)))?.value();
  }

  condition(name: string): Condition | undefined {
    const value = this.value(name);
    return value === undefined || value === ''
      ? undefined
      : new Condition(asText(value), { ...this.place, at: this.at(name) });
  }

  mapping(name: string): Mapping {
    return makeMapping(this.value(name), { ...this.place, at: this.at(name) });
  }

  nestedMapping(name: string): Mapping {
    return makeNestedMapping(this.value(name), { ...this.place, at: this.at(name) });
  }

  child<Part>(name: string, around: Surroundings = {}): Part | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : this.make<Part>(value, around);
  }

  children<Part>(name: string, around: Surroundings = {}): Part[] {
    const value = this.value(name);
    if (value === undefined) return [];
    return (Array.isArray(value) ? value : [value]).map((item) => this.make<Part>(item, around));
  }

  /**
   * A child's own options, for components that are read rather than created. `name`: the option that contains it, if
   * the values are a copy, which errors would not find in the manifest.
   */
  inside(value: unknown, name?: string): Given {
    const values = isJsonObject(value) ? value : {};
    return new Given(values, this.making, this.around, name === undefined ? undefined : this.at(name));
  }

  make<Part>(value: unknown, around: Surroundings = {}): Part {
    const values = isJsonObject(value) ? value : {};
    const definition = this.making.definition(String(values.type));
    if (!definition?.make) throw new Error(`Unknown component ${asText(values.type)}.`);
    const { make } = definition;
    const given = new Given(values, this.making, { ...this.around, ...around });
    return placed({ component: values }, () => make(given)) as Part;
  }
}
