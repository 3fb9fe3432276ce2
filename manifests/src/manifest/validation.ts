/* Compares components with their definitions, and says what does not fit and where. */
import { isJsonObject } from '@inlay/protocol/json';
import type { ComponentDefinition, Kind } from '../component.ts';
import { asText, type Problem } from './problems.ts';

type Definitions = (name: string) => ComponentDefinition | undefined;

/** Options that every component accepts and that have no meaning of their own. */
const everywhere = ['type', '$parameters', 'class_name', 'name', 'description', 'linkable', '$options'];

/** What is wrong with a component and everything inside. */
export function problemsOf(
  value: unknown,
  names: readonly string[],
  path: string,
  definitions: Definitions,
): Problem[] {
  const problems: Problem[] = [];
  const error = (at: string, message: string) => problems.push({ level: 'error', path: at, message });
  const warning = (at: string, message: string) => problems.push({ level: 'warning', path: at, message });

  function checkComponent(component: Record<string, unknown>, allowed: readonly string[], at: string): void {
    const type = asText(component.type);
    const definition = definitions(type);
    if (!definition) {
      if (type.startsWith('Custom')) error(at, `${type} "${asText(component.class_name)}" requires code`);
      else if (component.type === undefined) error(at, `Missing type. Expected ${allowed.join(', ')}`);
      else error(at, `Unknown component ${type}`);
      return;
    }
    if (!allowed.includes(type)) {
      error(at, `${type} is not allowed here. Expected ${allowed.join(', ')}`);
      return;
    }
    const parameters = isJsonObject(component.$parameters) ? component.$parameters : {};
    for (const [name, option] of Object.entries(definition.options)) {
      const given = component[name];
      if (given === undefined || given === null) {
        if (option.isRequired) error(at, `${type} is missing ${name}`);
        continue;
      }
      checkKind(given, option.kind, `${at}.${name}`);
      if (option.hasNoEffect) warning(`${at}.${name}`, `${name} has no effect here. ${option.words}`);
    }
    const wrong = definition.rule?.(component);
    if (wrong !== undefined) error(at, wrong);
    const note = definition.note?.(component);
    if (note !== undefined) warning(at, note);
    if (type.startsWith('Custom')) return;
    for (const name of Object.keys(component)) {
      const isKnown = name in definition.options || everywhere.includes(name) || name in parameters;
      if (!isKnown) warning(`${at}.${name}`, `${type} has no option ${name}`);
    }
  }

  function checkKind(value: unknown, kind: Kind, at: string): void {
    if (kind.is === 'component') {
      if (isJsonObject(value)) checkComponent(value, kind.of, at);
      else error(at, `Expected ${kind.of.join(', ')}`);
    } else if (kind.is === 'list') {
      if (!Array.isArray(value)) error(at, 'Expected a list');
      else for (const [index, item] of value.entries()) checkKind(item, kind.of, `${at}[${index}]`);
    } else if (kind.is === 'mapping') {
      if (!isJsonObject(value)) error(at, 'Expected an object');
      else for (const [key, item] of Object.entries(value)) checkKind(item, kind.of, `${at}.${key}`);
    } else if (kind.is === 'either') {
      const fitting = kind.of.filter((one) => fitsShape(value, one));
      if (fitting.length === 0) error(at, `Expected ${kind.of.map(nameOf).join(' or ')}`);
      else if (fitting[0]) checkKind(value, fitting[0], at);
    } else if (!fitsShape(value, kind)) error(at, `Expected ${nameOf(kind)}`);
  }

  if (isJsonObject(value)) checkComponent(value, names, path);
  else error(path, `Expected ${names.join(', ')}`);
  return problems;
}

/** Whether a value is of a kind at all, whatever is inside. */
function fitsShape(value: unknown, kind: Kind): boolean {
  switch (kind.is) {
    case 'text':
    case 'template':
    case 'condition':
      return ['string', 'number', 'boolean'].includes(typeof value);
    case 'string':
      return typeof value === 'string';
    case 'integer':
      return Number.isInteger(value) || (typeof value === 'string' && /^\d+$/.test(value));
    case 'number':
      return (
        typeof value === 'number' || (typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value)))
      );
    case 'boolean':
      return typeof value === 'boolean';
    case 'choice':
      return kind.of.includes(String(value));
    case 'list':
      return Array.isArray(value);
    case 'mapping':
    case 'component':
    case 'schema':
      return isJsonObject(value);
    case 'either':
      return kind.of.some((one) => fitsShape(value, one));
    case 'anything':
      return true;
  }
}

function nameOf(kind: Kind): string {
  switch (kind.is) {
    case 'choice':
      return kind.of.join(', ');
    case 'component':
      return kind.of.join(', ');
    case 'list':
      return 'a list';
    case 'mapping':
    case 'schema':
      return 'an object';
    case 'either':
      return kind.of.map(nameOf).join(' or ');
    case 'integer':
      return 'a whole number';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    case 'string':
      return 'a string in quotes';
    default:
      return 'a string';
  }
}
