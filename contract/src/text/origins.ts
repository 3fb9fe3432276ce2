/** Browser origins, as an operator writes them in `allowed_origin` and as browsers serialize them. */

const dnsHost = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const defaultPorts: Record<string, string> = { 'http:': ':80', 'https:': ':443' };

const accepted = 'use http:// or https://, a lower-case host, and a port if needed, such as https://app.example.com';

/** One sentence that says what is accepted, or undefined. */
export function originFault(text: string): string | undefined {
  return serializeOrigin(text) === undefined ? accepted : undefined;
}

/**
 * The origin as browsers write it (without the scheme's own port), or undefined when the text is anything but an
 * origin. A text that a browser would write in any other way is refused, not corrected.
 */
export function serializeOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin, hostname, port } = new URL(text);
  const defaultPort = defaultPorts[protocol];
  if (defaultPort === undefined) return undefined;
  if (text !== origin && text !== origin + defaultPort) return undefined;
  // No page can be loaded from port 0, so it can only be a mistake.
  if (port === '0') return undefined;
  return hostname.startsWith('[') || dnsHost.test(hostname) ? origin : undefined;
}
