/* Cuts a template into texts and the tokens of its expressions, with Jinja's rules for white space and comments. */
import { unescapeString } from '../values/string-escapes.ts';
import { TemplateError } from '../values/template-error.ts';
import { Float, type Integer, shrink } from '../values/values.ts';

export type TokenKind =
  | 'data'
  | 'variable_begin'
  | 'variable_end'
  | 'block_begin'
  | 'block_end'
  | 'name'
  | 'string'
  | 'number'
  | 'operator'
  | 'end';

export interface Token {
  kind: TokenKind;
  /** The text of a name, an operator or data; the contents of a string. */
  text: string;
  number?: Integer | Float;
  /** Where the token starts, for error messages. */
  at: number;
}

export function syntaxError(message: string, at: number): TemplateError {
  return new TemplateError('syntax', `${message} (at character ${at + 1} of the template)`);
}

const tag = /\{([{%#])([-+]?)/g;
const rawBlock = /\{%([-+]?)\s*raw\s*(-%\}\s*|%\})/y;
const endRaw = /\{%([-+]?)\s*endraw\s*(?:\+%\}|-%\}\s*|%\})/g;
const commentEnd = /([-+]?)#\}/g;
const variableEnd = /-\}\}\s*|\}\}/y;
const blockEnd = /\+%\}|-%\}\s*|%\}/y;
const whitespace = /\s+/y;
const float = /(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const integer = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const name = /[\p{L}\p{N}_\p{M}\p{Pc}]+/uy;
const identifier = /^[\p{ID_Start}_][\p{ID_Continue}]*$/u;
const string = /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;
const operator = /\*\*|\/\/|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;
const closing: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' };

export function tokenize(template: string): Token[] {
  // All line ends become the same, and the last one of the template is lost.
  const source = template.replaceAll(/\r\n?/g, '\n').replace(/\n$/, '');
  const tokens: Token[] = [];
  const addData = (text: string, at: number) => {
    if (text !== '') tokens.push({ kind: 'data', text, at });
  };
  let at = 0;
  while (at < source.length) {
    tag.lastIndex = at;
    const begin = tag.exec(source);
    if (!begin) {
      addData(source.slice(at), at);
      break;
    }
    const before = source.slice(at, begin.index);
    addData(begin[2] === '-' ? before.trimEnd() : before, at);
    at = begin.index;
    const raw = begin[1] === '%' ? matchAt(rawBlock, source, at) : undefined;
    if (raw) at = readRaw(source, at, raw, addData);
    else if (begin[1] === '#') at = readComment(source, at);
    else at = readExpression(source, begin.index, tag.lastIndex, begin[1] === '{', tokens);
  }
  tokens.push({ kind: 'end', text: '', at: source.length });
  return tokens;
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source) ?? undefined;
}

function readRaw(
  source: string,
  at: number,
  begin: RegExpExecArray,
  addData: (text: string, at: number) => void,
): number {
  const start = at + begin[0].length;
  const end = matchAt(endRaw, source, start);
  if (!end) throw syntaxError('Missing end of raw directive', at);
  const text = source.slice(start, end.index);
  addData(end[1] === '-' ? text.trimEnd() : text, start);
  return end.index + end[0].length;
}

function readComment(source: string, at: number): number {
  const end = matchAt(commentEnd, source, at + 2);
  if (!end) throw syntaxError('Missing end of comment tag', at);
  let next = end.index + end[0].length;
  if (end[1] === '-') next += matchAt(whitespace, source, next)?.[0].length ?? 0;
  return next;
}

function readExpression(source: string, begin: number, start: number, isVariable: boolean, tokens: Token[]): number {
  tokens.push({ kind: isVariable ? 'variable_begin' : 'block_begin', text: '', at: begin });
  const open: string[] = [];
  let at = start;
  for (;;) {
    const end = open.length === 0 ? matchAt(isVariable ? variableEnd : blockEnd, source, at) : undefined;
    if (end) {
      tokens.push({ kind: isVariable ? 'variable_end' : 'block_end', text: '', at });
      return at + end[0].length;
    }
    const space = matchAt(whitespace, source, at);
    if (space) {
      at += space[0].length;
      continue;
    }
    if (at >= source.length) throw syntaxError('The template ends within an expression', at);
    const token = readToken(source, at);
    if (!token) throw syntaxError(`Unexpected character '${source.slice(at, at + 1)}'`, at);
    tokens.push(token.token);
    at += token.length;
    if (token.token.kind === 'operator') balance(token.token, open);
  }
}

function balance({ text, at }: Token, open: string[]): void {
  if (Object.hasOwn(closing, text)) {
    open.push(closing[text] ?? '');
  } else if (text === '}' || text === ')' || text === ']') {
    const expected = open.pop();
    if (expected === undefined) throw syntaxError(`Unexpected '${text}'`, at);
    if (expected !== text) throw syntaxError(`Unexpected '${text}', expected '${expected}'`, at);
  }
}

function readToken(source: string, at: number): { token: Token; length: number } | undefined {
  // `a.0.1` has the keys 0 and 1.
  const asFloat = source[at - 1] === '.' ? undefined : matchAt(float, source, at);
  if (asFloat) {
    const number = new Float(Number(asFloat[0].replaceAll('_', '')));
    return { token: { kind: 'number', text: asFloat[0], number, at }, length: asFloat[0].length };
  }
  const asInteger = matchAt(integer, source, at);
  if (asInteger) {
    if (asInteger[0].length > 4300) throw syntaxError('A number of the template is too long', at);
    const number = shrink(BigInt(asInteger[0].replaceAll('_', '')));
    return { token: { kind: 'number', text: asInteger[0], number, at }, length: asInteger[0].length };
  }
  const asName = matchAt(name, source, at);
  if (asName) {
    if (!identifier.test(asName[0])) throw syntaxError('Invalid character in identifier', at);
    return { token: { kind: 'name', text: asName[0], at }, length: asName[0].length };
  }
  const asString = matchAt(string, source, at);
  if (asString) {
    const text = unescapeString(asString[0].slice(1, -1));
    if (text === undefined) throw syntaxError('A string has an escape that is cut off', at);
    return { token: { kind: 'string', text, at }, length: asString[0].length };
  }
  const asOperator = matchAt(operator, source, at);
  if (!asOperator) return undefined;
  return { token: { kind: 'operator', text: asOperator[0], at }, length: asOperator[0].length };
}
