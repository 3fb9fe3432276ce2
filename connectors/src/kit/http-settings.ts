/* What people enter to reach something over HTTP: an address, and credentials that go into a header. */
import { ConnectorError } from '@inlay/protocol/connector';

export type HeaderAuthentication =
  | { type: 'none' }
  | { type: 'bearer'; token: string }
  | { type: 'basic'; username: string; password: string };

/** `field`: the setting that a failure is about. */
export function authorizationHeader(authentication: HeaderAuthentication, field: string): Record<string, string> {
  switch (authentication.type) {
    case 'none':
      return {};
    case 'bearer':
      return { authorization: `Bearer ${headerValue(authentication.token, 'token', field)}` };
    case 'basic': {
      const credentials = Buffer.from(`${authentication.username}:${authentication.password}`).toString('base64');
      return { authorization: `Basic ${credentials}` };
    }
  }
}

/** Without the spaces and line breaks around it, which a key is easily pasted with. */
export function headerValue(value: string, what: string, field: string): string {
  const trimmed = value.trim();
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(trimmed)) return trimmed;
  throw new ConnectorError(
    `The ${what} contains a line break or a character that is not allowed in headers. Enter it again.`,
    { fields: [field] },
  );
}

export function httpAddress(text: string, what: string, field: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new ConnectorError(`The ${what} is not a valid http or https URL. Check its spelling.`).about(field);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConnectorError(`The ${what} contains a username. Enter it under authentication instead.`).about(field);
  }
  return url;
}
