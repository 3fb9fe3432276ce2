import { createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { surroundings } from '../../test/postgres.ts';
import { withConnection } from './connection.ts';
import { readServer } from './server.ts';

const message = (code: string, length: number, ...content: number[]) => {
  const header = Buffer.alloc(5);
  header.write(code);
  header.writeUInt32BE(length, 1);
  return Buffer.concat([header, Buffer.from(content)]);
};
const authenticated = message('R', 8, 0, 0, 0, 0);
const ready = message('Z', 5, 'I'.charCodeAt(0));

/** A server that accepts everyone and answers the first statement as configured. */
async function startServer(answer: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.concat([authenticated, ready]));
      socket.once('data', () => answer(socket));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return readServer({ host: '127.0.0.1', port, database: 'd', username: 'u', ssl_mode: { mode: 'disable' } });
}

const ask = async (answer: (socket: Socket) => void) =>
  await withConnection(await startServer(answer), surroundings, (client) => client.query('select 1'));

test('a server that announces a row of 2 GB is refused before the row is collected', async () => {
  const announced = message('D', 2_147_483_000);
  const answer = (socket: Socket) => {
    // The header in pieces, as a network may deliver it, and then more than fits between the two.
    for (const byte of announced) socket.write(Buffer.from([byte]));
    const fill = Buffer.alloc(1_000_000);
    for (let sent = 0; sent < 100; sent++) socket.write(fill);
    socket.end();
  };
  await expect(ask(answer)).rejects.toMatchObject({
    name: 'ConnectorError',
    failureType: 'config_error',
    message: expect.stringMatching(/2,147 MB.* 20 MB/),
  });
});

test('messages that are cut anywhere are followed to the next one', async () => {
  const text = Buffer.from('SELECT 0\0');
  const reply = Buffer.concat([message('C', 4 + text.length, ...text), ready]);
  for (let cut = 1; cut < reply.length; cut++) {
    const result = await ask((socket) => {
      socket.setNoDelay(true);
      socket.write(reply.subarray(0, cut), () => setImmediate(() => socket.write(reply.subarray(cut))));
    });
    expect(result.command).toBe('SELECT');
  }
});
