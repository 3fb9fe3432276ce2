/* Finds the names of a template that it does not define itself: `config`, and slips such as `cofnig`. */
import { isFunctionName } from './functions.ts';
import type { Arguments, Expression, FilterCall, Parameter, Statement, Target } from './syntax-tree.ts';

/** In order of appearance, without function names. */
export function freeNames(body: readonly Statement[]): string[] {
  const free = new Set<string>();
  visitAll(body, new Scope(undefined), free);
  return [...free];
}

class Scope {
  private readonly names = new Set<string>();
  private readonly parent: Scope | undefined;

  constructor(parent: Scope | undefined) {
    this.parent = parent;
  }

  has(name: string): boolean {
    return this.names.has(name) || (this.parent?.has(name) ?? false);
  }

  add(name: string): void {
    this.names.add(name);
  }
}

function visitAll(body: readonly Statement[], scope: Scope, free: Set<string>): void {
  for (const statement of body) visit(statement, scope, free);
}

function visit(statement: Statement, scope: Scope, free: Set<string>): void {
  const use = (expression: Expression | undefined, where = scope) => {
    if (expression) visitExpression(expression, where, free);
  };
  switch (statement.type) {
    case 'data':
      break;
    case 'output':
      use(statement.value);
      break;
    case 'if':
      for (const { test, body } of statement.branches) {
        use(test);
        visitAll(body, scope, free);
      }
      visitAll(statement.otherwise, scope, free);
      break;
    case 'for': {
      use(statement.items);
      const inside = new Scope(scope);
      inside.add('loop');
      assign(statement.target, inside, free);
      use(statement.test, inside);
      visitAll(statement.body, inside, free);
      visitAll(statement.otherwise, new Scope(scope), free);
      break;
    }
    case 'set':
      use(statement.value);
      assign(statement.target, scope, free);
      break;
    case 'set block':
      visitFilters(statement.filters, scope, free);
      visitAll(statement.body, new Scope(scope), free);
      assign(statement.target, scope, free);
      break;
    case 'with': {
      const inside = new Scope(scope);
      for (const { value } of statement.values) use(value);
      for (const { target } of statement.values) assign(target, inside, free);
      visitAll(statement.body, inside, free);
      break;
    }
    case 'filter block':
      visitFilters(statement.filters, scope, free);
      visitAll(statement.body, new Scope(scope), free);
      break;
    case 'macro':
      scope.add(statement.name);
      visitMacro(statement.parameters, statement.body, scope, free);
      break;
    case 'call block':
      use(statement.call);
      visitMacro(statement.parameters, statement.body, scope, free);
      break;
    case 'scope':
      visitAll(statement.body, new Scope(scope), free);
  }
}

function visitMacro(
  parameters: readonly Parameter[],
  body: readonly Statement[],
  scope: Scope,
  free: Set<string>,
): void {
  const inside = new Scope(scope);
  for (const name of ['caller', 'varargs', 'kwargs']) inside.add(name);
  for (const { name } of parameters) inside.add(name);
  for (const { fallback } of parameters) if (fallback) visitExpression(fallback, inside, free);
  visitAll(body, inside, free);
}

function visitFilters(filters: readonly FilterCall[], scope: Scope, free: Set<string>): void {
  for (const filter of filters) visitArguments(filter.arguments, scope, free);
}

function visitArguments({ positional, named, rest, namedRest }: Arguments, scope: Scope, free: Set<string>): void {
  const all = [
    ...positional,
    ...named.map(({ value }) => value),
    ...(rest ? [rest] : []),
    ...(namedRest ? [namedRest] : []),
  ];
  for (const one of all) visitExpression(one, scope, free);
}

function assign(target: Target, scope: Scope, free: Set<string>): void {
  if (target.type === 'tuple') for (const item of target.items) assign(item, scope, free);
  else if (target.type === 'name') scope.add(target.name);
  else visitExpression({ type: 'name', name: target.name }, scope, free);
}

function visitExpression(expression: Expression, scope: Scope, free: Set<string>): void {
  const use = (...parts: (Expression | undefined)[]) => {
    for (const part of parts) if (part) visitExpression(part, scope, free);
  };
  switch (expression.type) {
    case 'constant':
      break;
    case 'name':
      if (!scope.has(expression.name) && !isFunctionName(expression.name) && expression.name !== 'self') {
        free.add(expression.name);
      }
      break;
    case 'attribute':
    case 'not':
    case 'negative':
    case 'positive':
      use(expression.of);
      break;
    case 'item':
      use(expression.of, expression.key);
      break;
    case 'slice':
      use(expression.of, expression.start, expression.stop, expression.step);
      break;
    case 'list':
    case 'tuple':
      use(...expression.items);
      break;
    case 'dict':
      use(...expression.entries.flat());
      break;
    case 'and':
    case 'or':
    case 'arithmetic':
      use(expression.left, expression.right);
      break;
    case 'concatenation':
      use(...expression.parts);
      break;
    case 'comparison':
      use(expression.first, ...expression.rest.map(({ value }) => value));
      break;
    case 'condition':
      use(expression.test, expression.then, expression.otherwise);
      break;
    case 'call':
    case 'filter':
    case 'test':
      use(expression.of);
      visitArguments(expression.arguments, scope, free);
  }
}
