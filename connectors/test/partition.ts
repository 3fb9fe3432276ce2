/* A network that fails between a connector and its server: both stay up, and nothing that one sends reaches the other. */
import { type AddressInfo, connect, createServer } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Partition {
  port: number;
  begun: Promise<void>;
  /** What was sent meanwhile arrives, late. */
  end(): void;
}

/** @param from begins when the client sends this text, which is held with all that follows */
export async function startPartition(target: { host: string; port: number }, from: string): Promise<Partition> {
  let stage: 'before' | 'during' | 'after' = 'before';
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const late: (() => void)[] = [];
  const pass = (action: () => void) => void (stage === 'during' ? late.push(action) : action());
  const server = createServer((client) => {
    const upstream = connect(target);
    client.on('data', (bytes) => {
      const at = stage === 'before' ? bytes.indexOf(from) : -1;
      if (at === -1) return pass(() => upstream.write(bytes));
      upstream.write(bytes.subarray(0, at));
      stage = 'during';
      late.push(() => upstream.write(bytes.subarray(at)));
      begin();
    });
    upstream.on('data', (bytes) => pass(() => client.write(bytes)));
    client.on('close', () => pass(() => upstream.destroy()));
    upstream.on('close', () => pass(() => client.destroy()));
    for (const socket of [client, upstream]) {
      socket.on('error', () => {});
      onTestFinished(() => void socket.destroy());
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const end = () => {
    stage = 'after';
    for (const action of late) action();
  };
  return { port: (server.address() as AddressInfo).port, begun, end };
}
