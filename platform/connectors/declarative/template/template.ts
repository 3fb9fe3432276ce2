/*
 * A text of a manifest in which `{{ … }}` and `{% … %}` are evaluated, as Jinja does in Python's sandbox. The template is
 * parsed once and then walked for each evaluation; nothing is compiled into code. Values from a configuration or an
 * answer are data: they are never parsed as templates.
 */
import type { DateTime } from '../dates/date-time.ts';
import { TemplateError } from './template-error.ts';

/** What a template may name, such as `config` and `record`. Plain data, as the kit reads JSON. */
export type Names = Readonly<Record<string, unknown>>;

/** The time that `now_utc()` and its like tell. */
export type Clock = () => DateTime;

export class Template {
  readonly source: string;
  /** Whether the text has no template in it. */
  readonly isPlain: boolean;

  constructor(source: string) {
    this.source = source;
    this.isPlain = !/\{[{%#]/.test(source);
  }

  /** The text with everything evaluated. Throws a TemplateError. */
  renderText(_names: Names, _clock: Clock): string {
    if (this.isPlain) return this.source.replace(/\n$/, '');
    throw new TemplateError('syntax', 'The evaluator is not here yet.');
  }
}

const cache = new Map<string, Template>();
const maxCached = 20_000;

/** Throws a TemplateError (`syntax`) for a text that is no template. */
export function compileTemplate(source: string): Template {
  let template = cache.get(source);
  if (!template) {
    template = new Template(source);
    if (cache.size >= maxCached) cache.clear();
    cache.set(source, template);
  }
  return template;
}
