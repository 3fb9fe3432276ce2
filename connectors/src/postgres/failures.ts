/*
 * What a failure of PostgreSQL, of TLS or of the network means to the person who set the connector up, and whether
 * trying again may help. Messages name the host, the database and the user, never the password.
 */

import { ConnectorError } from '@inlay/protocol/connector';
import pg from 'pg';
import type { Server } from './server.ts';

/** Returns the error if it is none of these: then the fault is ours. */
export function explainFailure(error: unknown, server: Server): unknown {
  if (error instanceof ConnectorError || !(error instanceof Error)) return error;
  const explained = error instanceof pg.DatabaseError ? explainServerError(error, server) : explainLink(error, server);
  if (!explained) return error;
  const [failureType, message, ...fields] = explained;
  return new ConnectorError(message, { failureType, fields, cause: error });
}

/** The server does not offer TLS, or accepts this user only without it. */
export function isEncryptionRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message === noTlsMessage || (codeOf(error) === '28000' && /SSL (encryption|on)$/.test(error.message));
}

/** What to say, and the settings at fault, most likely first. */
type Explanation = [ConnectorError['failureType'], message: string, ...fields: string[]];

const where = ['host', 'port'];
const login = ['password', 'username'];
const content = ['database', 'host'];

/** What the client library says when the server declines TLS. */
const noTlsMessage = 'The server does not support SSL connections';

function explainLink(error: Error, server: Server): Explanation | undefined {
  const place = `${server.host}:${server.port}`;
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') {
    const advice = 'Check the port, and that the server is running and reachable from Inlay.';
    return ['transient_error', `${place} refused the connection. ${advice}`, ...where];
  }
  if (code === 'ETIMEDOUT' || /timeout expired|due to connection timeout/.test(error.message)) {
    const advice = 'Check the host and port, and that your firewall allows connections from Inlay.';
    return ['transient_error', `The connection to ${place} timed out. ${advice}`, ...where];
  }
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') {
    return ['transient_error', `There is no network route to ${place}. Check the host and the network.`, ...where];
  }
  if (error.message === noTlsMessage) {
    const advice = 'Enable TLS on the server or choose a weaker encryption mode.';
    return ['config_error', `The server at ${place} does not support encrypted connections. ${advice}`, 'ssl_mode'];
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const advice = 'Use a host name from the certificate, or have the certificate reissued.';
    return ['config_error', `The server's certificate is not valid for ${server.host}. ${advice}`, 'host'];
  }
  if (code === 'CERT_HAS_EXPIRED')
    return ['config_error', `The certificate of ${server.host} has expired. Renew it.`, 'host'];
  if (code !== undefined && untrustedCodes.has(code)) {
    const advice = 'Enter the CA certificate that signed it.';
    return [
      'config_error',
      `The certificate of ${server.host} is not signed by a trusted certificate authority. ${advice}`,
      'ssl_mode',
    ];
  }
  if (code === 'ECONNRESET' || code === 'EPIPE' || /^Connection terminated|not queryable/.test(error.message)) {
    return ['transient_error', `The connection to ${place} was lost.`, ...where];
  }
  if (/error establishing an SSL connection/.test(error.message)) {
    return ['config_error', `The server at ${place} is not PostgreSQL. Check the host and port.`, ...where];
  }
  if (error.message.includes('client password must be')) {
    return ['config_error', `The server requires a password for the user ${server.username}. Enter one.`, 'password'];
  }
  return undefined;
}

const untrustedCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
]);

function explainServerError(error: pg.DatabaseError, server: Server): Explanation | undefined {
  const { code = '', message } = error;
  const { username, database } = server;
  switch (code) {
    case '28P01':
      return [
        'config_error',
        `Wrong password for the user ${username}, or the user does not exist. Check both.`,
        ...login,
      ];
    case '28000':
      return ['config_error', ...explainRefusal(message, server)];
    case '3D000':
      return [
        'config_error',
        `The database ${database} does not exist on this server. Check its spelling.`,
        'database',
      ];
    case '42501':
      return ['config_error', `The user ${username} is missing a permission: ${message}. Grant it.`, 'username'];
    case '25006':
      return ['config_error', `The database ${database} is read-only. Connect to the primary server.`, 'host'];
    case '53300':
      return ['transient_error', `The server has reached its connection limit: ${message}.`, 'host'];
    case '55P03':
      return ['transient_error', 'A table was locked by another session for too long.', ...content];
    case '57014':
      return ['transient_error', 'A statement timed out or was cancelled.', ...content];
    default:
      return explainByClass(code, message);
  }
}

/** The first two characters of a code are its class. */
function explainByClass(code: string, message: string): Explanation | undefined {
  switch (code.slice(0, 2)) {
    case '08':
    case '40':
    case '53':
    case '57':
    case '58':
      return ['transient_error', `The server reported an error: ${message}.`, 'host'];
    case '23':
      return [
        'config_error',
        `A constraint on the table rejected a record: ${message}. Remove the constraint.`,
        ...content,
      ];
    case '54':
      return ['config_error', `The data exceeds a PostgreSQL limit: ${message}.`, ...content];
    case '0A':
    case '2B':
      return [
        'config_error',
        `The server cannot make the change: ${message}. Remove dependent objects, such as views.`,
        ...content,
      ];
    default:
      return undefined;
  }
}

function explainRefusal(message: string, { username, encryption }: Server): [message: string, ...fields: string[]] {
  if (encryption === 'disable' && /no encryption|SSL off/.test(message)) {
    return [`The server accepts the user ${username} only over an encrypted connection. Choose "require".`, 'ssl_mode'];
  }
  if (encryption !== 'disable' && /SSL (encryption|on)$/.test(message)) {
    const advice = 'Choose "prefer" or "disable".';
    return [`The server accepts the user ${username} only without encryption. ${advice}`, 'ssl_mode'];
  }
  return [`The server rejected the user ${username}: ${message}.`, 'username'];
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
