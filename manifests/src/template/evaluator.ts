/* Evaluates a template's syntax tree over plain data. Calls only functions from this folder. */

import { maxDepth, spendMade, spendStep } from '../values/budget.ts';
import { type Kwargs, noKwargs } from '../values/call-arguments.ts';
import { pythonText } from '../values/printing.ts';
import { TemplateError } from '../values/template-error.ts';
import {
  Attributes,
  Callable,
  Dict,
  isMapping,
  mappingEntries,
  Namespace,
  Tuple,
  typeError,
  typeName,
  Undefined,
  valueError,
} from '../values/values.ts';
import { attributeOf, itemOf, sliceOf } from './access.ts';
import { callFilter, callTest } from './filters.ts';
import { findFunction } from './functions.ts';
import { affirm, calculate, compare, isEqual, isTruthy, listOf, negate } from './operators.ts';
import type { Arguments, Expression, FilterCall, Parameter, Statement, Target } from './syntax-tree.ts';
import { findName, type World } from './world.ts';

type Scope = { names: Map<string, unknown>; parent: Scope | undefined };

export class Evaluator {
  private readonly world: World;
  private scope: Scope | undefined;
  private depth = 0;

  constructor(world: World) {
    this.world = world;
  }

  render(body: readonly Statement[]): string {
    let text = '';
    for (const statement of body) text += this.run(statement);
    return text;
  }

  private run(statement: Statement): string {
    spendStep();
    switch (statement.type) {
      case 'data':
        spendMade(statement.text.length);
        return statement.text;
      case 'output':
        return this.print(this.evaluate(statement.value));
      case 'if':
        for (const { test, body } of statement.branches) {
          if (isTruthy(this.evaluate(test))) return this.render(body);
        }
        return this.render(statement.otherwise);
      case 'for':
        return this.loop(statement, this.evaluate(statement.items), 0);
      case 'set':
        this.assign(statement.target, this.evaluate(statement.value));
        return '';
      case 'set block': {
        const text = this.inScope(() => this.render(statement.body));
        this.assign(statement.target, this.filtered(text, statement.filters));
        return '';
      }
      case 'with': {
        const values = statement.values.map(({ value }) => this.evaluate(value));
        return this.inScope(() => {
          for (const [index, { target }] of statement.values.entries()) this.assign(target, values[index]);
          return this.render(statement.body);
        });
      }
      case 'filter block':
        return this.print(
          this.filtered(
            this.inScope(() => this.render(statement.body)),
            statement.filters,
          ),
        );
      case 'macro':
        this.assign(
          { type: 'name', name: statement.name },
          this.macro(statement.name, statement.parameters, statement.body),
        );
        return '';
      case 'call block': {
        const caller = this.macro('caller', statement.parameters, statement.body);
        return this.print(this.call(statement.call, caller));
      }
      case 'scope':
        return this.inScope(() => this.render(statement.body));
    }
  }

  private print(value: unknown): string {
    const text = pythonText(value);
    spendMade(text.length);
    return text;
  }

  private inScope<T>(work: () => T, parent = this.scope): T {
    if (++this.depth > maxDepth) throw new TemplateError('limit', 'The template is nested too deeply');
    const before = this.scope;
    this.scope = { names: new Map(), parent };
    try {
      return work();
    } finally {
      this.scope = before;
      this.depth--;
    }
  }

  private filtered(text: unknown, filters: readonly FilterCall[]): unknown {
    let found = text;
    for (const { name, arguments: given } of filters) {
      const { args, kwargs } = this.arguments(given);
      found = callFilter(name, found, args, kwargs);
    }
    return found;
  }

  private loop(statement: Statement & { type: 'for' }, source: unknown, level: number): string {
    if (level > maxDepth) throw new TemplateError('limit', 'The template is nested too deeply');
    let items = listOf(source);
    if (statement.test) {
      const { test, target } = statement;
      items = items.filter((item) =>
        this.inScope(() => {
          this.assign(target, item);
          return isTruthy(this.evaluate(test));
        }),
      );
    }
    if (items.length === 0) return this.inScope(() => this.render(statement.otherwise));
    let text = '';
    let changed: { value: unknown } | undefined;
    const isChanged = new Callable('changed', (args) => {
      const value = new Tuple(args);
      const isSame = changed !== undefined && isEqual(changed.value, value);
      changed = { value };
      return !isSame;
    });
    for (const [index, item] of items.entries()) {
      const loop = new Attributes(
        'LoopContext',
        (name) => {
          switch (name) {
            case 'changed':
              return isChanged;
            case 'cycle':
              return new Callable('cycle', (args) => {
                if (args.length === 0) throw typeError('no items for cycling given');
                return args[index % args.length];
              });
            default:
              return loopValue(name, index, items, level);
          }
        },
        statement.isRecursive ? new Callable('loop', ([inner]) => this.loop(statement, inner, level + 1)) : undefined,
      );
      text += this.inScope(() => {
        this.scope?.names.set('loop', loop);
        this.assign(statement.target, item);
        return this.render(statement.body);
      });
    }
    return text;
  }

  private assign(target: Target, value: unknown): void {
    if (target.type === 'name') {
      this.scope ??= { names: new Map(), parent: undefined };
      this.scope.names.set(target.name, value);
    } else if (target.type === 'tuple') {
      const values = listOf(value);
      if (values.length !== target.items.length) {
        throw valueError(`expected ${target.items.length} values to unpack, got ${values.length}`);
      }
      for (const [index, item] of target.items.entries()) this.assign(item, values[index]);
    } else {
      const namespace = this.lookUp(target.name);
      if (!(namespace instanceof Namespace)) throw valueError('cannot assign attribute on non-namespace object');
      namespace.attributes.set(target.attribute, value);
    }
  }

  private macro(name: string, parameters: readonly Parameter[], body: readonly Statement[]): Callable {
    const home = this.scope;
    const scope = home ?? { names: new Map(), parent: undefined };
    this.scope ??= scope;
    return new Callable(name, (args, kwargs) =>
      this.inScope(() => {
        const rest = new Map(kwargs);
        for (const [index, { name: parameter, fallback }] of parameters.entries()) {
          let value = index < args.length ? args[index] : rest.get(parameter);
          rest.delete(parameter);
          if (value === undefined) {
            value = fallback ? this.evaluate(fallback) : new Undefined(`parameter '${parameter}' was not provided`);
          }
          this.scope?.names.set(parameter, value);
        }
        const caller = rest.get('caller');
        rest.delete('caller');
        this.scope?.names.set('caller', caller ?? new Undefined('No caller defined'));
        this.scope?.names.set('varargs', new Tuple(args.slice(parameters.length)));
        this.scope?.names.set('kwargs', Dict.of(rest));
        const usesRest = mentions(body, 'varargs');
        if (args.length > parameters.length && !usesRest) {
          throw typeError(`macro '${name}' takes not more than ${parameters.length} argument(s)`);
        }
        if (rest.size > 0 && !mentions(body, 'kwargs')) {
          throw typeError(`macro '${name}' takes no keyword argument '${[...rest.keys()][0]}'`);
        }
        return this.render(body);
      }, scope),
    );
  }

  private lookUp(name: string): unknown {
    for (let scope = this.scope; scope; scope = scope.parent) {
      if (scope.names.has(name)) return scope.names.get(name);
    }
    const found = findName(this.world, name);
    if (found !== undefined) return found;
    return findFunction(name, this.world.clock) ?? new Undefined(`'${name}' is undefined`);
  }

  evaluate(expression: Expression): unknown {
    spendStep();
    switch (expression.type) {
      case 'constant':
        return expression.value;
      case 'name':
        return this.lookUp(expression.name);
      case 'attribute':
        return attributeOf(this.evaluate(expression.of), expression.name);
      case 'item':
        return itemOf(this.evaluate(expression.of), this.evaluate(expression.key));
      case 'slice': {
        const part = (one: Expression | undefined) => (one ? this.evaluate(one) : undefined);
        const { of, start, stop, step } = expression;
        return sliceOf(this.evaluate(of), part(start), part(stop), part(step));
      }
      case 'list':
        return expression.items.map((item) => this.evaluate(item));
      case 'tuple':
        return new Tuple(expression.items.map((item) => this.evaluate(item)));
      case 'dict':
        return Dict.of(expression.entries.map(([key, value]) => [this.evaluate(key), this.evaluate(value)]));
      case 'not':
        return !isTruthy(this.evaluate(expression.of));
      case 'negative':
        return negate(this.evaluate(expression.of));
      case 'positive':
        return affirm(this.evaluate(expression.of));
      case 'and': {
        const left = this.evaluate(expression.left);
        return isTruthy(left) ? this.evaluate(expression.right) : left;
      }
      case 'or': {
        const left = this.evaluate(expression.left);
        return isTruthy(left) ? left : this.evaluate(expression.right);
      }
      case 'arithmetic':
        return calculate(expression.operator, this.evaluate(expression.left), this.evaluate(expression.right));
      case 'concatenation': {
        let text = '';
        for (const part of expression.parts) text += this.print(this.evaluate(part));
        return text;
      }
      case 'comparison': {
        let left = this.evaluate(expression.first);
        for (const { operator, value } of expression.rest) {
          const right = this.evaluate(value);
          if (!compare(operator, left, right)) return false;
          left = right;
        }
        return true;
      }
      case 'condition':
        if (isTruthy(this.evaluate(expression.test))) return this.evaluate(expression.then);
        if (expression.otherwise) return this.evaluate(expression.otherwise);
        return new Undefined('the inline if-expression evaluated to false and no else section was defined');
      case 'call':
        return this.call(expression);
      case 'filter': {
        const value = this.evaluate(expression.of);
        const { args, kwargs } = this.arguments(expression.arguments);
        return callFilter(expression.name, value, args, kwargs);
      }
      case 'test': {
        const value = this.evaluate(expression.of);
        const { args, kwargs } = this.arguments(expression.arguments);
        return callTest(expression.name, value, args, kwargs);
      }
    }
  }

  private call(expression: Expression & { type: 'call' }, caller?: Callable): unknown {
    const found = this.evaluate(expression.of);
    const { args, kwargs } = this.arguments(expression.arguments);
    if (found instanceof Undefined) found.fail();
    const callable = found instanceof Attributes ? found.call : found;
    if (!(callable instanceof Callable)) throw typeError(`'${typeName(found)}' object is not callable`);
    return callable.call(args, caller ? new Map([...kwargs, ['caller', caller]]) : kwargs);
  }

  private arguments({ positional, named, rest, namedRest }: Arguments): { args: unknown[]; kwargs: Kwargs } {
    const args = positional.map((one) => this.evaluate(one));
    if (rest) args.push(...listOf(this.evaluate(rest)));
    if (named.length === 0 && !namedRest) return { args, kwargs: noKwargs };
    const kwargs = new Map<string, unknown>(named.map(({ name, value }) => [name, this.evaluate(value)]));
    if (namedRest) {
      const more = this.evaluate(namedRest);
      if (!isMapping(more)) throw typeError(`argument after ** must be a mapping, not ${typeName(more)}`);
      for (const [key, value] of mappingEntries(more)) {
        if (typeof key !== 'string') throw typeError('keywords must be strings');
        kwargs.set(key, value);
      }
    }
    return { args, kwargs };
  }
}

function loopValue(name: string, index: number, items: readonly unknown[], level: number): unknown {
  switch (name) {
    case 'index':
      return index + 1;
    case 'index0':
      return index;
    case 'revindex':
      return items.length - index;
    case 'revindex0':
      return items.length - index - 1;
    case 'first':
      return index === 0;
    case 'last':
      return index === items.length - 1;
    case 'length':
      return items.length;
    case 'depth':
      return level + 1;
    case 'depth0':
      return level;
    case 'previtem':
      return index === 0 ? new Undefined('there is no previous item') : items[index - 1];
    case 'nextitem':
      return index === items.length - 1 ? new Undefined('there is no next item') : items[index + 1];
    default:
      return undefined;
  }
}

/** Whether a name stands anywhere in a part of a template. */
function mentions(part: unknown, name: string): boolean {
  if (Array.isArray(part)) return part.some((item) => mentions(item, name));
  if (typeof part !== 'object' || part === null) return false;
  const node = part as { type?: unknown; name?: unknown };
  if (node.type === 'name' && node.name === name) return true;
  return Object.values(part).some((item) => mentions(item, name));
}
