/*
 * The ceiling of a request: a bare `node:http` server that writes a given response. For issuing tokens it also does the
 * unavoidable work: reads the body, looks up the workspace in SQLite by an index, and signs.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { SqliteConnection } from '@inlay/sqlite/connection';
import { answerQuestions, portOf } from './child-program.ts';

export interface BareAnswer {
  headers: [string, string][];
  body: string;
  /** Only to issue a token. */
  issue?: { file: string; organizationId: string; signedLength: number };
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const signatureLength = 86;
const { privateKey } = generateKeyPairSync('ed25519');
let handle: Handler = (_request, response) => response.end();
const server = createServer((request, response) => handle(request, response));

answerQuestions(async (answer: BareAnswer): Promise<{ port: number }> => {
  handle = answer.issue ? issuing(answer, answer.issue) : writing(answer);
  return await portOf(server);
});

function writing({ headers, body }: BareAnswer): Handler {
  const bytes = Buffer.from(body);
  const flat = headers.flat();
  return (_request, response) => {
    response.writeHead(200, flat);
    response.end(bytes);
  };
}

function issuing({ headers, body }: BareAnswer, issue: NonNullable<BareAnswer['issue']>): Handler {
  const database = new SqliteConnection(issue.file, { readOnly: true });
  const find = database.prepare('select workspace_id from name_claims where organization_id = ? and name = ?');
  const signed = Buffer.alloc(issue.signedLength, 'x');
  const flat = headers.flat();
  const beforeSignature = body.slice(0, -signatureLength - 2);
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { workspace_name } = JSON.parse(Buffer.concat(chunks).toString()) as { workspace_name: string };
      if (find.all([issue.organizationId, workspace_name]).length === 0) throw new Error('Unknown workspace.');
      response.writeHead(200, flat);
      response.end(`${beforeSignature}${sign(null, signed, privateKey).toString('base64url')}"}`);
    });
  };
}
