/*
 * The ceiling of a request: a bare `node:http` server that does only the unavoidable work. It runs the statement that
 * the service runs for the request, and serializes its rows; for issuing tokens it also reads the body and signs. If
 * there is no statement, it writes the response of the service.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { SqliteConnection, type SqliteValue } from '@inlay/database/connection';
import pg from 'pg';
import { answerQuestions, portOf } from './child-program.ts';
import type { Statement } from './statements.ts';

export interface BareAnswer {
  headers: [string, string][];
  body: string;
  statement?: (Statement & { place: BarePlace }) | undefined;
  /** Only to issue a token: the length of the text that is signed. */
  signedLength?: number | undefined;
}

/** A SQLite file or the URL of a PostgreSQL database. */
export type BarePlace = { file: string } | { url: string };

type Rows = unknown[] | Promise<unknown[]>;

/** As many connections as the service has. */
const maxConnections = 20;
const signatureLength = 86;
const { privateKey } = generateKeyPairSync('ed25519');
const readers = new Map<string, (sql: string, parameters: readonly unknown[]) => Rows>();
let respond: (request: IncomingMessage) => string | Promise<string> = () => '';
let headers: string[] = [];
const server = createServer(async (request, response) => {
  const body = Buffer.from(await respond(request));
  response.writeHead(200, [...headers, 'content-length', String(body.length)]);
  response.end(body);
});

answerQuestions(async (answer: BareAnswer): Promise<{ port: number }> => {
  headers = answer.headers.flat();
  respond = responding(answer);
  return await portOf(server);
});

function responding({ body, statement, signedLength }: BareAnswer): typeof respond {
  if (!statement) return () => body;
  const { sql, parameters, place } = statement;
  const read = readerOf(place);
  let next = 0;
  const rows = () => read(sql, parameters[next++ % parameters.length] as readonly unknown[]);
  if (signedLength === undefined) return async () => JSON.stringify({ data: await rows() });

  const signed = Buffer.alloc(signedLength, 'x');
  const beforeSignature = body.slice(0, -signatureLength - 2);
  return async (request) => {
    JSON.parse(await textOf(request));
    if ((await rows()).length === 0) throw new Error('Unknown workspace.');
    return `${beforeSignature}${sign(null, signed, privateKey).toString('base64url')}"}`;
  };
}

function readerOf(place: BarePlace): (sql: string, parameters: readonly unknown[]) => Rows {
  const name = 'file' in place ? place.file : place.url;
  const reader = readers.get(name) ?? ('file' in place ? openFile(place.file) : openPool(place.url));
  readers.set(name, reader);
  return reader;
}

function openFile(file: string) {
  const database = new SqliteConnection(file, { readOnly: true });
  return (sql: string, parameters: readonly unknown[]) => database.prepare(sql).all(parameters as SqliteValue[]);
}

function openPool(url: string) {
  const pool = new pg.Pool({ connectionString: url, max: maxConnections });
  return async (text: string, values: readonly unknown[]) => (await pool.query(text, [...values])).rows;
}

function textOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString()));
    request.on('error', reject);
  });
}
