/**
 * Sites over https, as in real life: a product, the service and providers have no domain in common. One server of this
 * process answers for all of them.
 */
import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const hosts = {
  product: 'app.example.test',
  service: 'inlay.example.net',
  provider: 'provider.example.org',
  hostile: 'provider.example.com',
};

type Handler = (asked: IncomingMessage, response: ServerResponse) => void;

export interface Sites {
  /** The origin of each site. */
  origins: Record<keyof typeof hosts, string>;
  certificate: string;
  /** Says who answers for a site. */
  serve(site: keyof typeof hosts, handler: Handler): void;
  close(): void;
}

export async function openSites({ key, certificate } = makeCertificate()): Promise<Sites> {
  const handlers = new Map<string, Handler>();
  const server = createServer({ key, cert: certificate }, (asked, response) => {
    const handler = handlers.get(asked.headers.host?.replace(/:\d+$/, '') ?? '');
    if (handler) handler(asked, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const origin = (site: keyof typeof hosts) => `https://${hosts[site]}:${port}`;
  return {
    origins: {
      product: origin('product'),
      service: origin('service'),
      provider: origin('provider'),
      hostile: origin('hostile'),
    },
    certificate,
    serve: (site, handler) => void handlers.set(hosts[site], handler),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Hands every request on, as a proxy before a service does. */
export function handOnTo(url: string): Handler {
  return (asked, response) => {
    const onward = request(url + asked.url, { method: asked.method, headers: asked.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    // A browser that has left must not keep a request waiting.
    response.on('close', () => onward.destroy());
    asked.pipe(onward);
  };
}

/**
 * Lets Chromium find the hosts on this machine and trust this certificate. Ignoring certificate errors per context isn't
 * enough: Chromium then repeats each request whose connection has such an error, and gives up after too many.
 */
export function chromiumArgumentsForSites(
  certificate: string,
  names: readonly string[] = Object.values(hosts),
): string[] {
  const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  return [
    `--host-resolver-rules=${names.map((host) => `MAP ${host} 127.0.0.1`).join(',')}`,
    `--ignore-certificate-errors-spki-list=${createHash('sha256').update(key).digest('base64')}`,
  ];
}

/** A certificate for all hosts, which nobody has signed. */
export function makeCertificate(): { key: string; certificate: string } {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-sites-'));
  try {
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const names = Object.values(hosts).map((host) => `DNS:${host}`);
    const make = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=sites';
    const more = ['-addext', `subjectAltName=${names.join(',')}`, '-keyout', key, '-out', certificate];
    execFileSync('openssl', [...make.split(' '), ...more], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
