/* A JSON API on the loopback interface, and the source `http-api` configured to read it. */
import { Ajv } from 'ajv';
import { expect } from 'vitest';
import { type Handler, startHttpServer } from '../../guard/test/http-server.ts';
import type { StreamConfiguration } from '../src/http-api/configuration.ts';
import { connector } from '../src/http-api/http-api.ts';
import { specification } from '../src/http-api/specification.ts';
import { openSurroundings, readSource } from './run-source.ts';

export const validate = new Ajv({ strict: false, validateFormats: false }).compile(
  specification.connectionSpecification,
);

export const items = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({ id: from + index }));

/** A server and a configuration with one stream `things` from it. The configuration satisfies the specification. */
export async function startApi(handler: Handler, stream: Partial<StreamConfiguration> = {}, more: object = {}) {
  const server = await startHttpServer(handler);
  const configuration = {
    base_url: `${server.origin}/v1`,
    authentication: { type: 'none' },
    streams: [{ name: 'things', path: '/things', ...stream }],
    ...more,
  };
  expect(validate(configuration), JSON.stringify(validate.errors)).toBe(true);
  const check = (surroundings = openSurroundings) => connector.check(configuration, surroundings);
  const read = async (options: Parameters<typeof readSource>[2] = {}) => {
    const result = await readSource(connector, configuration, options);
    return { ...result, things: result.records.things, ids: result.records.things?.map(({ id }) => id) };
  };
  return { ...server, configuration, check, read };
}
