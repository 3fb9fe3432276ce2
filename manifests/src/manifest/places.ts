/*
 * Where in a manifest an error happened. Components are created and templates rendered far from where errors are
 * reported, and most errors are thrown by code that knows no manifest: so the innermost surrounding component records
 * its path.
 */
import { isJsonObject } from '@inlay/protocol/json';
import { TemplateError } from '../values/template-error.ts';

export interface ManifestPlace {
  component: Record<string, unknown>;
  /** The option of the component, such as `start_datetime` or `start_datetime.min_datetime`. */
  option?: string | undefined;
  template?: string | undefined;
}

const places = new WeakMap<Error, ManifestPlace>();

/** Runs the work and records the path of an error thrown by it, unless already known. */
export function placed<Result>(place: ManifestPlace | undefined, work: () => Result): Result {
  const note = (error: unknown): never => {
    if (place && error instanceof Error && !places.has(error)) places.set(error, place);
    throw error;
  };
  try {
    const result = work();
    return result instanceof Promise ? (result.catch(note) as Result) : result;
  } catch (error) {
    return note(error);
  }
}

/**
 * The text of an error, with its path, its template and the settings that the template names, as far as known. `root`
 * is the component at `path`, or with an empty path an object of all parts.
 */
export function describeError(error: unknown, root: Record<string, unknown>, path: string): string {
  const { message } = error as Error;
  const place = error instanceof Error ? places.get(error) : undefined;
  if (!place) return message;
  const { component, option } = place;
  const template = error instanceof TemplateError ? error.template : place.template;
  const found = pathTo(component, root, path) ?? path;
  // From another part of the manifest: the code that knows that part adds the path.
  if (found === '') return message;
  const at = option === undefined ? found : joined(found, option);
  const settings = settingsIn(template ?? '');
  const notes = [
    ...(template?.includes('{') && !message.includes(template) ? [`template: ${template}`] : []),
    ...(settings.length > 0 ? [`${settings.length === 1 ? 'setting' : 'settings'}: ${settings.join(', ')}`] : []),
  ];
  return `${at}: ${message}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`;
}

function pathTo(wanted: object, value: unknown, path: string): string | undefined {
  if (value === wanted) return path;
  if (!isJsonObject(value) && !Array.isArray(value)) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$parameters') continue;
    const found = pathTo(wanted, inner, Array.isArray(value) ? `${path}[${key}]` : joined(path, key));
    if (found !== undefined) return found;
  }
  return undefined;
}

function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** The settings that a template takes from the configuration, such as `credentials.client_id`. */
export function settingsIn(template: string): string[] {
  return [...new Set(settingUses(template))];
}

/**
 * A setting for each use of the configuration that names one in plain words. Names that are worked out, or written with
 * escapes, end the path: `config['a']['b' ~ 'c']` uses `a`, and `config['b' ~ 'c']` is not in the list.
 */
export function settingUses(template: string): string[] {
  const uses = template.matchAll(
    /\bconfig((?:\.(?!(?:get|items|keys|values|pop|popitem|setdefault|copy)\b)\w+\b(?!\s*\()|\[\s*(?:'[^'\\]*'|"[^"\\]*")\s*\]|\.get\(\s*(?:'[^'\\]*'|"[^"\\]*")(?=\s*[,)]))+)/g,
  );
  return [...uses].map(([, path = '']) =>
    [...path.matchAll(/'([^']*)'|"([^"]*)"|\.(?!get\()(\w+)/g)]
      .map(([, one, two, three]) => one ?? two ?? three)
      .join('.'),
  );
}
