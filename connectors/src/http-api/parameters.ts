/*
 * Where request parameters go: into the query, or into the JSON body. Page, cursor and key parameters replace entered
 * parameters of the same name.
 */
import { emptyParts, type RequestParts, type Values } from '@inlay/manifests/http/request';
import { removeAtPath, setAtPath } from '@inlay/manifests/run/paths';
import { valueAt } from '@inlay/protocol/json';
import { type Authentication, bodyOf, type NameAndValue, type StreamConfiguration } from './configuration.ts';

/** All that were entered, those in the path before the others. */
function parametersOf({ path, parent, query_parameters = [] }: StreamConfiguration): NameAndValue[] {
  // The query of the path may contain fields of a parent, so it stays part of the URL.
  const [, query = ''] = parent ? [] : (/\?([^#]*)/.exec(path) ?? []);
  const inPath = [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }));
  return [...inPath, ...query_parameters];
}

/** The parameter of the key, if it goes into the query. */
export function keyParameter(config: Record<string, unknown>): string | undefined {
  const { type, name } = config.authentication as Authentication & { name?: string };
  return type === 'query' ? name : undefined;
}

/** Parameters that the cursor sets itself. */
function cursorParameters({ cursor_field, cursor_parameter, time_window, parent }: StreamConfiguration): string[] {
  const { start_parameter, end_parameter } = time_window ?? {};
  const names = time_window ? [start_parameter, end_parameter] : cursor_field && !parent ? [cursor_parameter] : [];
  return names.filter((name) => name !== undefined);
}

/** The parameters of a page request. `ofPage` is undefined for a page behind a link, which contains its own. */
export function pageParts(
  stream: StreamConfiguration,
  keyName: string | undefined,
  ofPage: Values | undefined,
): RequestParts {
  const parts = emptyParts();
  const own = placed(stream, ofPage ?? {});
  const taken = [keyName, ...Object.keys(own.query), ...(isInBody(stream) ? [] : cursorParameters(stream))];
  const query: Record<string, string[]> = {};
  for (const { name, value } of ofPage ? parametersOf(stream) : []) {
    if (!taken.includes(name)) query[name] = [...(query[name] ?? []), value];
  }
  parts.query = { ...query, ...own.query };
  const body = bodyOf(stream);
  if (!body) return parts;
  if (isInBody(stream)) {
    for (const name of cursorParameters(stream)) removeAtPath(body, name.split('.'));
    for (const [name, value] of Object.entries(ofPage ?? {})) setAtPath(body, name.split('.'), value);
  }
  // An object without anything would not be sent at all.
  if (Object.keys(body).length === 0) return { ...parts, form: '{}' };
  return { ...parts, json: body };
}

/** Parameters at their place in a request. */
export function placed(stream: StreamConfiguration, values: Values): RequestParts {
  const parts = emptyParts();
  if (!isInBody(stream)) return { ...parts, query: values };
  for (const [name, value] of Object.entries(values)) setAtPath(parts.json as Values, name.split('.'), value);
  return parts;
}

/** What was entered for a parameter; undefined if nothing was. */
export function enteredFor(stream: StreamConfiguration, parameter: string): unknown {
  if (isInBody(stream)) return valueAt(bodyOf(stream), parameter);
  const values = parametersOf(stream).filter(({ name }) => name === parameter);
  return values.length === 0 ? undefined : values.map(({ value }) => value);
}

function isInBody({ parameters_in }: StreamConfiguration): boolean {
  return parameters_in === 'body';
}
