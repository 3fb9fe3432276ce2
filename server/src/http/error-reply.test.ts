import { type AddressInfo, connect } from 'node:net';
import { formats } from '@inlay/contract/formats';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createMetrics } from '../metrics.ts';
import { createServer } from './server.ts';
import { createPartCompiler } from './validation.ts';

it('does not take a body that breaks off for an error of the service', async () => {
  const lines: { level: number; msg: string; err?: unknown }[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const app = createServer({
    log,
    metrics: createMetrics(),
    compilePart: createPartCompiler(formats),
    trustedProxies: [],
    maxConnectionsPerAddress: 10,
  });
  app.post('/notes', { config: { access: 'public' } }, async () => ({}));
  onTestFinished(() => app.close());
  await app.listen({ port: 0, host: '127.0.0.1' });

  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const bodyBegan = new Promise((resolve) => {
    app.server.once('request', (request) => request.once('data', resolve));
  });
  socket.write(
    'POST /notes HTTP/1.1\r\nHost: inlay.test\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"a',
  );
  await bodyBegan;
  socket.destroy();
  await expect
    .poll(() => lines.map(({ msg }) => msg), { timeout: 60_000 })
    .toContain('the request broke off before it was complete');
  expect(lines.filter(({ level, err }) => level > 30 || err !== undefined)).toEqual([]);
});
