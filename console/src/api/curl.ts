/** A request as a shell command. Secrets are variables, so the command can be shared. */
import { type ApiRequest, searchOf } from './client.ts';

export function curlOf({ method, path, query, body, secrets = [] }: ApiRequest): string {
  const parts = [
    `curl -X ${method} "$INLAY_URL"${quoted(`/api/v1${path}${searchOf(query)}`)}`,
    `-H "Authorization: Bearer $INLAY_OPERATOR_TOKEN"`,
    ...(body ? [`-H 'Content-Type: application/json'`, `-d ${withoutSecrets(JSON.stringify(body), secrets)}`] : []),
  ];
  return parts.join(' \\\n  ');
}

/** Replaces each secret in the body with a variable outside the single quotes, which the shell expands. */
function withoutSecrets(json: string, secrets: readonly string[]): string {
  const texts = [...new Set(secrets.filter((secret) => secret !== '' && !/^\*+$/.test(secret)))];
  let parts: (string | { variable: string })[] = [json];
  texts.forEach((text, index) => {
    const variable = texts.length > 1 ? `SECRET_${index + 1}` : 'SECRET';
    parts = parts.flatMap((part) =>
      typeof part === 'string'
        ? part.split(JSON.stringify(text)).flatMap((piece, at) => (at === 0 ? [piece] : [{ variable }, piece]))
        : [part],
    );
  });
  return parts.map((part) => (typeof part === 'string' ? quoted(part) : `'"'"$${part.variable}"'"'`)).join('');
}

/** In single quotes, only a single quote needs escaping. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
