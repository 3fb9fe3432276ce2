/*
 * What a failure of PostgreSQL, of TLS or of the network means to the person who set the connector up, and whether
 * trying again may help. Messages name the host, the database and the user, never the password.
 */

import { ConnectorError } from '@inlay/protocol/connector';
import pg from 'pg';
import type { Server } from './server.ts';

/** Gives the error back when it is none of these: then it is ours. */
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
    const advice = 'Check the port, and that the server is running and reachable from here.';
    return ['transient_error', `Nothing accepts connections at ${place}. ${advice}`, ...where];
  }
  if (code === 'ETIMEDOUT' || /timeout expired|due to connection timeout/.test(error.message)) {
    const advice = 'Check host and port, and that a firewall lets this service through.';
    return ['transient_error', `${place} did not answer in time. ${advice}`, ...where];
  }
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') {
    return ['transient_error', `There is no route to ${place}. Check the host, and the network between.`, ...where];
  }
  if (error.message === noTlsMessage) {
    const advice = 'Turn TLS on at the server, or choose a weaker encryption mode.';
    return ['config_error', `The server at ${place} does not offer encrypted connections. ${advice}`, 'ssl_mode'];
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const advice = 'Use the name that is in the certificate, or have the certificate reissued.';
    return ['config_error', `The certificate of the server is not for ${server.host}. ${advice}`, 'host'];
  }
  if (code === 'CERT_HAS_EXPIRED')
    return ['config_error', `The certificate of ${server.host} has expired. Renew it.`, 'host'];
  if (code !== undefined && untrustedCodes.has(code)) {
    const advice = 'Give the CA certificate it is signed with.';
    return [
      'config_error',
      `The certificate of ${server.host} is not signed by an authority known here. ${advice}`,
      'ssl_mode',
    ];
  }
  if (code === 'ECONNRESET' || code === 'EPIPE' || /^Connection terminated|not queryable/.test(error.message)) {
    return ['transient_error', `The connection to ${place} was lost.`, ...where];
  }
  if (/error establishing an SSL connection/.test(error.message)) {
    return ['config_error', `What answers at ${place} is not PostgreSQL. Check host and port.`, ...where];
  }
  if (error.message.includes('client password must be')) {
    return ['config_error', `The server asks for a password for the user ${server.username}. Enter one.`, 'password'];
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
        `The password is not right for the user ${username}, or there is no such user.`,
        ...login,
      ];
    case '28000':
      return ['config_error', ...explainRefusal(message, server)];
    case '3D000':
      return ['config_error', `There is no database ${database} on this server. Check its spelling.`, 'database'];
    case '42501':
      return ['config_error', `The user ${username} lacks a permission: ${message}. Grant it.`, 'username'];
    case '25006':
      return ['config_error', `The database ${database} is read-only. Connect to the primary server.`, 'host'];
    case '53300':
      return ['transient_error', `The server has no connection left: ${message}.`, 'host'];
    case '55P03':
      return ['transient_error', 'A table stayed locked by somebody else for too long.', ...content];
    case '57014':
      return ['transient_error', 'A statement took too long, or somebody cancelled it.', ...content];
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
      return ['transient_error', `The server gave up: ${message}.`, 'host'];
    case '23':
      return ['config_error', `A constraint that somebody put on the table refuses a record: ${message}.`, ...content];
    case '54':
      return ['config_error', `The data is beyond a limit of PostgreSQL: ${message}.`, ...content];
    case '0A':
    case '2B':
      return [
        'config_error',
        `The server cannot do that: ${message}. Remove what stands in the way, such as a view.`,
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
  return [`The server refuses the user ${username}: ${message}.`, 'username'];
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
