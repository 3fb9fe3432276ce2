import { expect, test } from 'vitest';
import { layersOf, type Profile, samplesBetween } from './profiles.ts';

/** Each function calls the next one; a function is a file of the product, a module of Node.js or a built-in function. */
function layerOfStack(...stack: string[]): string | undefined {
  const nodes = stack.map((name, index) => ({
    id: index + 1,
    callFrame: {
      functionName: name,
      url: name.startsWith('node:') ? name : '',
      lineNumber: name === 'anonymous1' ? 0 : -1,
      columnNumber: 0,
    },
    children: index + 1 < stack.length ? [index + 2] : [],
  }));
  const profile = { nodes, startTime: 0, samples: [], timeDeltas: [] };
  return layersOf(profile, ({ functionName }) => (functionName.includes('/') ? functionName : undefined))(stack.length);
}

const [fastify, route] = ['node_modules/fastify/lib/hooks.js', 'server/src/tenancy/workspaces/workspaces.routes.ts'];

test.each([
  ['rule', [fastify, route, 'server/src/tenancy/workspaces/workspaces.ts']],
  ['store', [route, 'server/src/tenancy/workspaces/workspaces.store.ts', 'server/src/kernel/db/prepared.ts']],
  ['store', ['database/src/connection.ts', 'all']],
  ['store', ['node_modules/pg/lib/connection.js', 'node:net', 'writev']],
  ['Node.js and kernel', [fastify, 'node:_http_outgoing', 'node:net', 'writev']],
  ['Node.js and kernel', ['(program)']],
  ['authentication', [fastify, 'server/src/tenancy/tokens/jwt.ts', 'node:internal/crypto/sig']],
  ['hooks', [fastify, 'server/src/tenancy/tokens/rate-limits.hooks.ts']],
  ['log and telemetry', ['server/src/kernel/output.ts', 'node_modules/sonic-boom/index.js', 'node:fs', 'writeBuffer']],
  ['serialization', [fastify, 'server/src/kernel/http/server.ts', 'anonymous1', 'push']],
  ['garbage collection', ['(root)', '(garbage collector)']],
  [undefined, ['(root)', '(idle)']],
])('counts for %s what is running in %j', (layer, stack) => {
  expect(layerOfStack(...stack)).toBe(layer);
});

test('only samples within the time of the load count', () => {
  const profile: Profile = { nodes: [], startTime: 1_000, samples: [1, 2, 3, 4], timeDeltas: [10, 10, 10, 10] };
  expect(samplesBetween(profile, 1_015, 1_035)).toEqual([2, 3]);
});
