/*
 * Parses a template with the grammar of Jinja: its statements and its expressions, with Jinja's own precedences.
 * Long because it is one grammar: statements and expressions call each other at every level.
 */
import { maxDepth } from '../values/budget.ts';
import { Float } from '../values/values.ts';
import { syntaxError, type Token, type TokenKind, tokenize } from './lexer.ts';
import type {
  Arguments,
  ArithmeticOperator,
  ComparisonOperator,
  Expression,
  FilterCall,
  Parameter,
  Statement,
  Target,
} from './syntax-tree.ts';

export function parseTemplate(source: string): Statement[] {
  return new Parser(tokenize(source)).template();
}

const comparisons = new Set(['==', '!=', '<', '<=', '>', '>=']);

class Parser {
  private readonly tokens: Token[];
  private at = 0;
  private depth = 0;

  constructor(tokens: Token[]) {
    this.tokens = tokens;
  }

  template(): Statement[] {
    const body = this.statements([]);
    if (this.current.kind !== 'end') throw this.unexpected();
    return body;
  }

  private get current(): Token {
    return this.tokens[this.at] as Token;
  }

  private get following(): Token | undefined {
    return this.tokens[this.at + 1];
  }

  private next(): Token {
    const token = this.current;
    if (token.kind !== 'end') this.at++;
    return token;
  }

  private unexpected(wanted?: string): Error {
    const { kind, text, at } = this.current;
    const found = text === '' ? kind.replace('_', ' ') : `'${text}'`;
    return syntaxError(wanted ? `Expected ${wanted}, found ${found}` : `Unexpected ${found}`, at);
  }

  private isOperator(text: string): boolean {
    return this.current.kind === 'operator' && this.current.text === text;
  }

  private isName(text: string): boolean {
    return this.current.kind === 'name' && this.current.text === text;
  }

  private skipOperator(text: string): boolean {
    const found = this.isOperator(text);
    if (found) this.at++;
    return found;
  }

  private skipName(text: string): boolean {
    const found = this.isName(text);
    if (found) this.at++;
    return found;
  }

  private expectOperator(text: string): void {
    if (!this.skipOperator(text)) throw this.unexpected(`'${text}'`);
  }

  private expectName(text?: string): string {
    const { kind, text: found } = this.current;
    if (kind !== 'name' || (text !== undefined && found !== text)) throw this.unexpected(text ? `'${text}'` : 'a name');
    this.at++;
    return found;
  }

  private expect(kind: TokenKind): void {
    if (this.current.kind !== kind) throw this.unexpected(kind.replace('_', ' '));
    this.at++;
  }

  /** Up to a statement of one of the names, whose `{%` is read and whose name is the current token. */
  private statements(ends: readonly string[]): Statement[] {
    const body: Statement[] = [];
    return this.deeper(() => {
      for (;;) {
        const { kind, text } = this.current;
        if (kind === 'end') {
          if (ends.length > 0) throw this.unexpected(`{% ${ends.join(' %} or {% ')} %}`);
          return body;
        }
        this.at++;
        if (kind === 'data') {
          body.push({ type: 'data', text });
        } else if (kind === 'variable_begin') {
          body.push({ type: 'output', value: this.tuple() });
          this.expect('variable_end');
        } else {
          if (this.current.kind === 'name' && ends.includes(this.current.text)) return body;
          body.push(...this.statement());
          this.expect('block_end');
        }
      }
    });
  }

  private body(...ends: string[]): Statement[] {
    this.skipOperator(':');
    this.expect('block_end');
    return this.statements(ends);
  }

  private deeper<T>(parse: () => T): T {
    if (++this.depth > maxDepth) throw syntaxError('The template is nested too deeply', this.current.at);
    const result = parse();
    this.depth--;
    return result;
  }

  private statement(): Statement[] {
    const { at } = this.current;
    const keyword = this.expectName();
    switch (keyword) {
      case 'if':
        return [this.ifStatement()];
      case 'for':
        return [this.forStatement()];
      case 'set':
        return [this.setStatement()];
      case 'with':
        return [this.withStatement()];
      case 'print': {
        const outputs: Statement[] = [];
        while (this.current.kind !== 'block_end') {
          if (outputs.length > 0) this.expectOperator(',');
          outputs.push({ type: 'output', value: this.expression() });
        }
        return outputs;
      }
      case 'filter': {
        const filters = this.filterCalls(true);
        const body = this.body('endfilter');
        this.at++;
        return [{ type: 'filter block', filters, body }];
      }
      case 'macro': {
        const name = this.expectName();
        const parameters = this.parameters();
        const body = this.body('endmacro');
        this.at++;
        return [{ type: 'macro', name, parameters, body }];
      }
      case 'call': {
        const parameters = this.isOperator('(') ? this.parameters() : [];
        const call = this.expression();
        if (call.type !== 'call') throw syntaxError('Expected a call', at);
        const body = this.body('endcall');
        this.at++;
        return [{ type: 'call block', call, parameters, body }];
      }
      case 'block': {
        const name = this.expectName();
        this.skipName('scoped');
        const body = this.body('endblock');
        this.at++;
        this.skipName(name);
        return [{ type: 'scope', body }];
      }
      case 'autoescape': {
        this.expression();
        const body = this.body('endautoescape');
        this.at++;
        return [{ type: 'scope', body }];
      }
      default:
        throw syntaxError(`Unknown statement '${keyword}'`, at);
    }
  }

  private ifStatement(): Statement {
    const branches: { test: Expression; body: Statement[] }[] = [];
    for (;;) {
      const test = this.tuple(false);
      branches.push({ test, body: this.body('elif', 'else', 'endif') });
      const keyword = this.next().text;
      if (keyword === 'elif') continue;
      if (keyword === 'endif') return { type: 'if', branches, otherwise: [] };
      const otherwise = this.body('endif');
      this.at++;
      return { type: 'if', branches, otherwise };
    }
  }

  private forStatement(): Statement {
    const target = this.target(false, 'in');
    this.expectName('in');
    const items = this.tuple(false, 'recursive');
    const test = this.skipName('if') ? this.expression() : undefined;
    const isRecursive = this.skipName('recursive');
    const body = this.body('endfor', 'else');
    let otherwise: Statement[] = [];
    if (this.next().text === 'else') {
      otherwise = this.body('endfor');
      this.at++;
    }
    return { type: 'for', target, items, ...(test && { test }), isRecursive, body, otherwise };
  }

  private setStatement(): Statement {
    const target = this.target(true);
    if (this.skipOperator('=')) return { type: 'set', target, value: this.tuple() };
    const filters = this.filterCalls(false);
    const body = this.body('endset');
    this.at++;
    return { type: 'set block', target, filters, body };
  }

  private withStatement(): Statement {
    const values: { target: Target; value: Expression }[] = [];
    while (this.current.kind !== 'block_end') {
      if (values.length > 0) this.expectOperator(',');
      const target = this.target(false);
      this.expectOperator('=');
      values.push({ target, value: this.expression() });
    }
    const body = this.body('endwith');
    this.at++;
    return { type: 'with', values, body };
  }

  private parameters(): Parameter[] {
    const parameters: Parameter[] = [];
    this.expectOperator('(');
    while (!this.isOperator(')')) {
      if (parameters.length > 0) this.expectOperator(',');
      const name = this.expectName();
      if (this.skipOperator('=')) parameters.push({ name, fallback: this.expression() });
      else if (parameters.at(-1)?.fallback) throw this.unexpected('a default for this argument');
      else parameters.push({ name });
    }
    this.expectOperator(')');
    return parameters;
  }

  /** What may stand on the left of `=`. */
  private target(mayBeNamespace: boolean, end?: string): Target {
    const items: Target[] = [];
    let isTuple = false;
    for (;;) {
      if (items.length > 0) {
        this.expectOperator(',');
        isTuple = true;
      }
      if (this.isTupleEnd(end)) break;
      items.push(this.oneTarget(mayBeNamespace));
      if (!this.isOperator(',')) break;
    }
    const [first] = items;
    if (!first) throw this.unexpected('a name');
    return isTuple ? { type: 'tuple', items } : first;
  }

  private oneTarget(mayBeNamespace: boolean): Target {
    if (this.skipOperator('(')) {
      const inner = this.deeper(() => this.target(false));
      this.expectOperator(')');
      return inner;
    }
    const { at } = this.current;
    const name = this.expectName();
    if (['true', 'false', 'none', 'True', 'False', 'None'].includes(name)) {
      throw syntaxError(`Cannot assign to '${name}'`, at);
    }
    if (mayBeNamespace && this.skipOperator('.')) return { type: 'namespace', name, attribute: this.expectName() };
    return { type: 'name', name };
  }

  private isTupleEnd(end?: string): boolean {
    const { kind } = this.current;
    if (kind === 'variable_end' || kind === 'block_end' || this.isOperator(')') || this.isOperator('=')) return true;
    return end !== undefined && this.isName(end);
  }

  /** One expression, or several with commas between them. */
  private tuple(mayHaveCondition = true, end?: string, isInParentheses = false): Expression {
    const items: Expression[] = [];
    let isTuple = false;
    for (;;) {
      if (items.length > 0) this.expectOperator(',');
      if (this.isTupleEnd(end)) break;
      items.push(mayHaveCondition ? this.expression() : this.or());
      if (!this.isOperator(',')) break;
      isTuple = true;
    }
    const [first] = items;
    if (!isTuple && first) return first;
    if (!isTuple && !isInParentheses) throw this.unexpected('an expression');
    return { type: 'tuple', items };
  }

  private expression(): Expression {
    return this.deeper(() => {
      let then = this.or();
      while (this.skipName('if')) {
        const test = this.or();
        if (this.skipName('else')) then = { type: 'condition', test, then, otherwise: this.expression() };
        else then = { type: 'condition', test, then };
      }
      return then;
    });
  }

  private or(): Expression {
    let left = this.and();
    while (this.skipName('or')) left = { type: 'or', left, right: this.and() };
    return left;
  }

  private and(): Expression {
    let left = this.not();
    while (this.skipName('and')) left = { type: 'and', left, right: this.not() };
    return left;
  }

  private not(): Expression {
    if (!this.skipName('not')) return this.comparison();
    return { type: 'not', of: this.deeper(() => this.not()) };
  }

  private comparison(): Expression {
    const first = this.sum();
    const rest: { operator: ComparisonOperator; value: Expression }[] = [];
    for (;;) {
      const { kind, text } = this.current;
      if (kind === 'operator' && comparisons.has(text)) {
        this.at++;
        rest.push({ operator: text as ComparisonOperator, value: this.sum() });
      } else if (this.skipName('in')) {
        rest.push({ operator: 'in', value: this.sum() });
      } else if (this.isName('not') && this.following?.kind === 'name' && this.following.text === 'in') {
        this.at += 2;
        rest.push({ operator: 'not in', value: this.sum() });
      } else {
        return rest.length === 0 ? first : { type: 'comparison', first, rest };
      }
    }
  }

  private sum(): Expression {
    let left = this.concatenation();
    for (;;) {
      const operator = this.skipOneOf('+', '-');
      if (!operator) return left;
      left = { type: 'arithmetic', operator, left, right: this.concatenation() };
    }
  }

  private concatenation(): Expression {
    const first = this.product();
    const parts = [first];
    while (this.skipOperator('~')) parts.push(this.product());
    return parts.length === 1 ? first : { type: 'concatenation', parts };
  }

  private product(): Expression {
    let left = this.power();
    for (;;) {
      const operator = this.skipOneOf('*', '/', '//', '%');
      if (!operator) return left;
      left = { type: 'arithmetic', operator, left, right: this.power() };
    }
  }

  private power(): Expression {
    let left = this.unary();
    while (this.skipOperator('**')) left = { type: 'arithmetic', operator: '**', left, right: this.unary() };
    return left;
  }

  private skipOneOf(...operators: ArithmeticOperator[]): ArithmeticOperator | undefined {
    const found = this.current.kind === 'operator' ? operators.find((one) => one === this.current.text) : undefined;
    if (found) this.at++;
    return found;
  }

  private unary(mayHaveFilter = true): Expression {
    let found: Expression;
    if (this.skipOperator('-')) found = { type: 'negative', of: this.deeper(() => this.unary(false)) };
    else if (this.skipOperator('+')) found = { type: 'positive', of: this.deeper(() => this.unary(false)) };
    else found = this.primary();
    found = this.postfix(found);
    return mayHaveFilter ? this.filtersAndTests(found) : found;
  }

  private primary(): Expression {
    const token = this.next();
    switch (token.kind) {
      case 'name':
        if (token.text === 'true' || token.text === 'True') return { type: 'constant', value: true };
        if (token.text === 'false' || token.text === 'False') return { type: 'constant', value: false };
        if (token.text === 'none' || token.text === 'None') return { type: 'constant', value: null };
        return { type: 'name', name: token.text };
      case 'string': {
        let value = token.text;
        while (this.current.kind === 'string') value += this.next().text;
        return { type: 'constant', value };
      }
      case 'number':
        return { type: 'constant', value: token.number };
      case 'operator':
        if (token.text === '(') {
          const inner = this.deeper(() => this.tuple(true, undefined, true));
          this.expectOperator(')');
          return inner;
        }
        if (token.text === '[') return this.list();
        if (token.text === '{') return this.dict();
    }
    this.at--;
    throw this.unexpected();
  }

  private list(): Expression {
    const items: Expression[] = [];
    while (!this.isOperator(']')) {
      if (items.length > 0) this.expectOperator(',');
      if (this.isOperator(']')) break;
      items.push(this.expression());
    }
    this.expectOperator(']');
    return { type: 'list', items };
  }

  private dict(): Expression {
    const entries: [Expression, Expression][] = [];
    while (!this.isOperator('}')) {
      if (entries.length > 0) this.expectOperator(',');
      if (this.isOperator('}')) break;
      const key = this.expression();
      this.expectOperator(':');
      entries.push([key, this.expression()]);
    }
    this.expectOperator('}');
    return { type: 'dict', entries };
  }

  private postfix(start: Expression): Expression {
    let found = start;
    for (let length = 0; ; length++) {
      if (length > maxDepth) throw syntaxError('The template is nested too deeply', this.current.at);
      if (this.isOperator('.') || this.isOperator('[')) found = this.subscript(found);
      else if (this.isOperator('(')) found = { type: 'call', of: found, arguments: this.arguments() };
      else return found;
    }
  }

  private filtersAndTests(start: Expression): Expression {
    let found = start;
    for (let length = 0; ; length++) {
      if (length > maxDepth) throw syntaxError('The template is nested too deeply', this.current.at);
      if (this.isOperator('|')) {
        for (const call of this.filterCalls(false)) found = { type: 'filter', of: found, ...call };
      } else if (this.isName('is')) {
        found = this.test(found);
      } else if (this.isOperator('(')) {
        found = { type: 'call', of: found, arguments: this.arguments() };
      } else {
        return found;
      }
    }
  }

  private subscript(of: Expression): Expression {
    if (this.skipOperator('.')) {
      const token = this.next();
      if (token.kind === 'name') return { type: 'attribute', of, name: token.text };
      if (token.kind === 'number' && !(token.number instanceof Float)) {
        return { type: 'item', of, key: { type: 'constant', value: token.number } };
      }
      this.at--;
      throw this.unexpected('a name or a number');
    }
    this.expectOperator('[');
    const keys: Expression[] = [];
    while (!this.isOperator(']')) {
      if (keys.length > 0) this.expectOperator(',');
      if (!this.isOperator(':')) keys.push(this.expression());
      if (keys.length <= 1 && this.skipOperator(':')) return this.slice(of, keys[0]);
    }
    this.expectOperator(']');
    const [first] = keys;
    return { type: 'item', of, key: keys.length === 1 && first ? first : { type: 'tuple', items: keys } };
  }

  /** Behind the first colon. */
  private slice(of: Expression, start: Expression | undefined): Expression {
    const isEnd = () => this.isOperator(']') || this.isOperator(':');
    const stop = isEnd() ? undefined : this.expression();
    const step = this.skipOperator(':') && !isEnd() ? this.expression() : undefined;
    this.expectOperator(']');
    return { type: 'slice', of, ...(start && { start }), ...(stop && { stop }), ...(step && { step }) };
  }

  private arguments(): Arguments {
    const found: Arguments = { positional: [], named: [] };
    this.expectOperator('(');
    let isFirst = true;
    while (!this.isOperator(')')) {
      if (!isFirst) {
        this.expectOperator(',');
        if (this.isOperator(')')) break;
      }
      isFirst = false;
      const { at } = this.current;
      const requireOrder = (isInOrder: boolean) => {
        if (!isInOrder) throw syntaxError('Invalid order of the arguments of a call', at);
      };
      if (this.skipOperator('*')) {
        requireOrder(!found.rest && !found.namedRest);
        found.rest = this.expression();
      } else if (this.skipOperator('**')) {
        requireOrder(!found.namedRest);
        found.namedRest = this.expression();
      } else if (this.current.kind === 'name' && this.following?.kind === 'operator' && this.following.text === '=') {
        requireOrder(!found.namedRest);
        const name = this.expectName();
        this.at++;
        found.named.push({ name, value: this.expression() });
      } else {
        requireOrder(!found.rest && !found.namedRest && found.named.length === 0);
        found.positional.push(this.expression());
      }
    }
    this.expectOperator(')');
    return found;
  }

  private filterCalls(isFirstInline: boolean): FilterCall[] {
    const calls: FilterCall[] = [];
    while ((isFirstInline && calls.length === 0) || this.skipOperator('|')) {
      const name = this.dottedName();
      calls.push({ name, arguments: this.isOperator('(') ? this.arguments() : { positional: [], named: [] } });
      if (calls.length > maxDepth) throw syntaxError('The template is nested too deeply', this.current.at);
    }
    return calls;
  }

  private dottedName(): string {
    let name = this.expectName();
    while (this.skipOperator('.')) name += `.${this.expectName()}`;
    return name;
  }

  private test(of: Expression): Expression {
    this.at++;
    const isNegated = this.skipName('not');
    const name = this.dottedName();
    const { kind, text, at } = this.current;
    let args: Arguments = { positional: [], named: [] };
    if (this.isOperator('(')) {
      args = this.arguments();
    } else if (kind === 'string' || kind === 'number' || this.isOperator('[') || this.isOperator('{')) {
      args = { positional: [this.postfix(this.primary())], named: [] };
    } else if (kind === 'name' && text !== 'else' && text !== 'or' && text !== 'and') {
      if (text === 'is') throw syntaxError('Tests with is cannot be chained', at);
      args = { positional: [this.postfix(this.primary())], named: [] };
    }
    const test: Expression = { type: 'test', of, name, arguments: args };
    return isNegated ? { type: 'not', of: test } : test;
  }
}
