/** A request as a command for a shell. Secrets are variables, so that the text may be sent to a colleague. */
import { type ApiRequest, searchOf } from './client.ts';

export function curlOf({ method, path, query, body, secrets = [] }: ApiRequest): string {
  const parts = [
    `curl -X ${method} "$INLAY_URL"${quoted(`/api/v1${path}${searchOf(query)}`)}`,
    `-H "Authorization: Bearer $INLAY_OPERATOR_TOKEN"`,
    ...(body ? [`-H 'Content-Type: application/json'`, `-d ${withoutSecrets(JSON.stringify(body), secrets)}`] : []),
  ];
  return parts.join(' \\\n  ');
}

/** Each secret in the body becomes a variable: what is outside single quotes is filled in by the shell. */
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

/** Nothing in single quotes has a meaning for a shell but a single quote. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
