/** A request as a command for a shell. Secrets are variables, so that the text may be sent to a colleague. */
import { type ApiRequest, searchOf } from './client.ts';

export function curlOf({ method, path, query, body }: ApiRequest): string {
  const parts = [
    `curl -X ${method} "$INLAY_URL"${quoted(`/api/v1${path}${searchOf(query)}`)}`,
    `-H "Authorization: Bearer $INLAY_OPERATOR_TOKEN"`,
    ...(body ? [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`] : []),
  ];
  return parts.join(' \\\n  ');
}

/** Nothing in single quotes has a meaning for a shell but a single quote. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
