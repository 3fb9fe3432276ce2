/* A file behind an http or https address. Its version is its ETag, or when it was last modified. */

import { discard, type HttpAnswer, type HttpClient } from '@inlay/guard/http-client';
import { explainNetworkFailure } from '@inlay/guard/network-failures';
import { ConnectorError } from '@inlay/protocol/connector';
import { authorizationHeader, type HeaderAuthentication, httpAddress } from '../kit/http-settings.ts';
import type { OpenFile, SourceFile } from './source-file.ts';

/** Settings, as failures name them. */
export const urlField = 'location.url';
const authenticationField = 'location.authentication';

export function webFile(client: HttpClient, address: string, authentication: HeaderAuthentication): SourceFile {
  const url = httpAddress(address, 'address', urlField);
  const credentials = authorizationHeader(authentication, authenticationField);
  return {
    name: url.pathname.split('/').at(-1) || url.hostname,
    explain: (error) => {
      const explained = explainNetworkFailure(error, url.origin);
      return explained instanceof ConnectorError && explained !== error ? explained.about(urlField) : explained;
    },
    open: (knownVersion) =>
      client.get({ url, credentials, headers: condition(knownVersion) }, async (answer) => {
        let opened: OpenFile | undefined;
        try {
          opened = openAnswer(answer, knownVersion);
          return opened;
        } finally {
          if (!opened) discard(answer.body);
        }
      }),
  };
}

function condition(knownVersion: string | undefined): Record<string, string> {
  if (knownVersion === undefined) return {};
  const isEtag = /^(W\/)?"/.test(knownVersion);
  return isEtag ? { 'if-none-match': knownVersion } : { 'if-modified-since': knownVersion };
}

function openAnswer({ status, headers, body }: HttpAnswer, knownVersion: string | undefined): OpenFile | undefined {
  if (status === 304) return undefined;
  if (status !== 200) throw refusal(status);
  if (String(headers['content-type']).startsWith('text/html')) {
    throw new ConnectorError('The URL leads to a web page, not a file. Check the URL.').about(urlField);
  }
  const { etag, 'last-modified': lastModified } = headers;
  const version = [etag, lastModified].find((header) => typeof header === 'string');
  if (version !== undefined && version === knownVersion) return undefined;
  // A reader that has seen enough ends the answer; the failure that this is to undici is nobody's concern.
  body.on('error', () => {});
  return { version, modifiedAt: dateOr(lastModified, new Date()), body };
}

function dateOr(header: string | string[] | undefined, otherwise: Date): Date {
  const time = Date.parse(String(header));
  return Number.isNaN(time) ? otherwise : new Date(time);
}

function refusal(status: number): ConnectorError {
  switch (status) {
    case 401:
      return new ConnectorError('The server rejected the token or password (401). Check the authentication.').about(
        authenticationField,
      );
    case 403:
      return new ConnectorError('The server denied access to the file (403). Check the URL and the permissions.').about(
        authenticationField,
        urlField,
      );
    case 404:
    case 410:
      return new ConnectorError(`The file was not found (${status}). Check the URL.`).about(urlField);
    default:
      return new ConnectorError(`The server returned ${status} instead of the file. Check the URL.`).about(urlField);
  }
}
