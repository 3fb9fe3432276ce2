/*
 * A text of a manifest in which `{{ … }}` and `{% … %}` are evaluated, as Jinja does in Python's sandbox. The template is
 * parsed once and then walked for each evaluation; nothing is compiled into code. Values from a configuration or an
 * answer are data: they are never parsed as templates.
 */
import { startBudget } from '../values/budget.ts';
import { TemplateError } from '../values/template-error.ts';
import { Evaluator } from './evaluator.ts';
import { parseTemplate } from './parser.ts';
import type { Expression, Statement } from './syntax-tree.ts';
import { freeNames } from './unknown-names.ts';
import { type Clock, findName, type Names, type World } from './world.ts';

export type { Clock, Names };

/** A name that manifests of old used, and that the reference refuses wherever it stands in the text. */
const refusedName = 'stream_state';

export class Template {
  readonly source: string;
  /** Whether the text has no template in it. */
  readonly isPlain: boolean;
  /** The names that the text uses without defining them, except functions. */
  readonly names: readonly string[];
  private readonly body: readonly Statement[];
  /** The expression, if the text is nothing else: its value need not be printed to be known. */
  private readonly single: Expression | undefined;
  private readonly isRefused: boolean;

  constructor(source: string) {
    this.source = source;
    this.isRefused = source.includes(refusedName);
    this.body = this.explained(() => parseTemplate(source));
    this.names = this.explained(() => freeNames(this.body));
    this.isPlain = this.body.every(({ type }) => type === 'data');
    const [first, ...more] = this.body;
    this.single = more.length === 0 && first?.type === 'output' ? first.value : undefined;
  }

  /** The text with everything evaluated. Throws a TemplateError. */
  renderText(names: Names, clock: Clock, parameters?: Names): string {
    const world = { names, parameters, clock };
    return this.explained(() => {
      this.begin(world);
      return new Evaluator(world).render(this.body);
    });
  }

  /** The value of the expression that the whole text is; undefined if the text is more or less than one. */
  evaluateSingle(names: Names, clock: Clock, parameters?: Names): { value: unknown } | undefined {
    const { single } = this;
    if (!single) return undefined;
    const world = { names, parameters, clock };
    return this.explained(() => {
      this.begin(world);
      return { value: new Evaluator(world).evaluate(single) };
    });
  }

  /** A template or a value that is nested too deeply for the stack is one beyond the limits. */
  private explained<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      const thrown =
        error instanceof RangeError
          ? new TemplateError('limit', 'The template is nested too deeply or makes too much')
          : error;
      if (thrown instanceof TemplateError) thrown.template ??= this.source;
      throw thrown;
    }
  }

  private begin(world: World): void {
    if (this.isRefused) {
      throw new TemplateError(
        'unknown_name',
        `${refusedName} is no longer supported in templates. Use stream_interval.`,
      );
    }
    for (const name of this.names) {
      if (findName(world, name) === undefined) {
        throw new TemplateError(
          'unknown_name',
          `The template uses '${name}', which is not defined here: ${this.source}`,
        );
      }
    }
    startBudget();
  }
}

const cache = new Map<string, Template>();
const maxCached = 20_000;

/** Throws a TemplateError (`syntax`) for invalid templates. */
export function compileTemplate(source: string): Template {
  let template = cache.get(source);
  if (!template) {
    template = new Template(source);
    if (cache.size >= maxCached) cache.clear();
    cache.set(source, template);
  }
  return template;
}
