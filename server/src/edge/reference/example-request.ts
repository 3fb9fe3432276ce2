/** A ready `curl` command for an endpoint, made from the examples of its schemas. */
import { type Endpoint, firstExample, mediaOf, type Parameter } from './document.ts';
import { formatJson } from './prose.ts';
import { literal } from './schema-words.ts';

export function curlCommand(endpoint: Endpoint, serverUrl: string): string {
  const url = serverUrl + examplePath(endpoint) + exampleQuery(endpoint);
  const method = endpoint.method === 'get' ? '' : `-X ${endpoint.method.toUpperCase()} `;
  const parts = [`curl ${method}${/^[\w:/.~%-]+$/.test(url) ? url : quote(url)}`];
  const scheme = Object.keys(endpoint.security?.[0] ?? {})[0];
  if (scheme !== undefined) parts.push(`-H "Authorization: Bearer $${variableFor(scheme)}"`);
  const body = mediaOf(endpoint.requestBody);
  if (body) {
    parts.push("-H 'Content-Type: application/json'");
    parts.push(`-d ${quote(formatBody(firstExample(body)))}`);
  }
  return parts.join(' \\\n  ');
}

function examplePath({ path, parameters = [] }: Endpoint): string {
  return path.replace(/\{([^}]+)\}/g, (placeholder, name) => {
    const parameter = parameters.find((one) => one.in === 'path' && one.name === name);
    const example = parameter && givenExample(parameter);
    return example === undefined ? placeholder : encodeURIComponent(literal(example));
  });
}

function exampleQuery({ parameters = [] }: Endpoint): string {
  const query = new URLSearchParams();
  for (const parameter of parameters) {
    if (parameter.in !== 'query') continue;
    const example = givenExample(parameter) ?? (parameter.required ? firstExample(parameter) : undefined);
    if (example !== undefined) query.set(parameter.name, literal(example));
  }
  return query.size > 0 ? `?${query}` : '';
}

/** Only an example that the author of the schema gave: an invented value would look like a recommendation. */
export function givenExample({ example, examples, schema }: Parameter): unknown {
  return example ?? Object.values(examples ?? {})[0]?.value ?? schema?.examples?.[0];
}

/** A body with one field stays on one line; a longer body is indented below the command. */
function formatBody(body: unknown): string {
  const text = formatJson(body);
  return text.split('\n').length > 3 ? text.replaceAll('\n', '\n  ') : text.replace(/\n */g, '');
}

/** scopedToken → "scoped token" */
export function tokenName(scheme: string): string {
  return scheme.replace(/(?=[A-Z])/g, ' ').toLowerCase();
}

/** scopedToken → SCOPED_TOKEN. The service itself reads an operator token from a variable. */
function variableFor(scheme: string): string {
  if (scheme === 'operatorToken') return 'INLAY_OPERATOR_TOKEN';
  return tokenName(scheme).replaceAll(' ', '_').toUpperCase();
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
