/*
 * Puts what Node and undici report of a failed exchange into words for the person who set the connector up. Messages name
 * the server only by its origin: paths and queries may carry keys.
 */

import { ConnectorError } from '@inlay/protocol/connector';
import { errors } from 'undici';

interface Failure {
  words: string;
  failureType: ConnectorError['failureType'];
}

const transient = (words: string): Failure => ({ words, failureType: 'transient_error' });
const config = (words: string): Failure => ({ words, failureType: 'config_error' });

const refused = transient('refused the connection. Check the host and port');
const unreachable = transient('cannot be reached. Check the host and port');
const closed = transient('closed the connection before the response was complete');
const silent = transient('took too long to respond');
const untrusted = config('has an untrusted certificate. Check the host or replace the certificate');
const notTls = config('does not support TLS. Check whether the URL starts with http:// or https://');
const notHttp = config('did not respond with HTTP. Check the host and port');
const endless = config('sent a response that is too large. Check the URL');
const damaged = transient('sent damaged compressed data');
const garbled = transient('sent a damaged response');

const failures: Record<string, Failure> = {
  ECONNREFUSED: refused,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  EADDRNOTAVAIL: unreachable,
  ETIMEDOUT: unreachable,
  UND_ERR_CONNECT_TIMEOUT: unreachable,
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: closed,
  UND_ERR_HEADERS_TIMEOUT: silent,
  UND_ERR_BODY_TIMEOUT: silent,
  UND_ERR_HEADERS_OVERFLOW: notHttp,
  UND_ERR_RES_EXCEEDED_MAX_SIZE: endless,
  EPROTO: notTls,
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: notTls,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
  CERT_HAS_EXPIRED: untrusted,
  CERT_NOT_YET_VALID: untrusted,
  CERT_UNTRUSTED: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  Z_BUF_ERROR: damaged,
  Z_DATA_ERROR: damaged,
};

/** Returns a ConnectorError unchanged, and so anything that is not a network failure, because that is a bug. */
export function explainNetworkFailure(error: unknown, origin: string): unknown {
  if (error instanceof ConnectorError) return error;
  const { code } = error as NodeJS.ErrnoException;
  const failure = error instanceof errors.HTTPParserError ? parserFailure(error) : failures[String(code)];
  if (!failure) return error;
  return new ConnectorError(`${origin} ${failure.words}.`, { failureType: failure.failureType, cause: error });
}

/** A response with chunks started as HTTP. The parser reports this only in its message. */
function parserFailure({ message }: Error): Failure {
  return /chunk/i.test(message) ? garbled : notHttp;
}
