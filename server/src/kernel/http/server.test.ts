import { pino } from 'pino';
import { Type } from 'typebox';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createMetrics } from '../telemetry/metrics.ts';
import { createServer } from './server.ts';
import { createPartCompiler } from './validation.ts';

it('answers values of our own formats that may be null without a word on the console', async () => {
  const app = createServer({
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    compilePart: createPartCompiler({}),
    trustedProxies: [],
    maxConnectionsPerAddress: 0,
  });
  onTestFinished(() => app.close());
  const warn = vi.spyOn(console, 'warn');
  onTestFinished(() => warn.mockRestore());
  const answer = Type.Object({ line: Type.Union([Type.String({ format: 'short-text' }), Type.Null()]) });
  app.get('/line', { schema: { response: { 200: answer } } }, async () => ({ line: 'one' }));
  expect((await app.inject('/line')).json()).toEqual({ line: 'one' });
  expect(warn.mock.calls).toEqual([]);
});
