/* Files in a folder or behind a web address, and the source `file` configured to read them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from '@inlay/protocol/connector';
import { Ajv } from 'ajv';
import { expect } from 'vitest';
import { type Handler, startHttpServer } from '../../guard/test/http-server.ts';
import { connector } from '../src/file/file.ts';
import { specification } from '../src/file/specification.ts';
import { openSurroundings, readSource, temporaryFolder } from './run-source.ts';

export const csv = { type: 'csv' };
export const validate = new Ajv({ strict: false }).compile(specification.connectionSpecification);

/** A source of `path` in an allowed folder. The configuration satisfies the specification. */
export function startFolder(path: string, format: object, contents: Record<string, string | Buffer> = {}) {
  const folder = temporaryFolder();
  const write = (name: string, content: string | Buffer) => writeFileSync(join(folder, name), content);
  for (const [name, content] of Object.entries(contents)) write(name, content);
  const location = { type: 'path', path: join(folder, path) };
  return { folder, write, ...startFiles({ location, format }, [folder]) };
}

export async function startWeb(handler: Handler, format: object, more: object = {}) {
  const server = await startHttpServer(handler);
  const location = { type: 'url', url: `${server.origin}/files/things.csv?signature=hidden`, ...more };
  return { ...server, ...startFiles({ location, format }, []) };
}

export function startFiles(more: object, readableDirs: string[]) {
  const configuration: Configuration = { stream_name: 'things', ...more };
  expect(validate(configuration), JSON.stringify(validate.errors)).toBe(true);
  const surroundings = { ...openSurroundings, readableDirs };
  const check = (other: object = {}) => connector.check(configuration, { ...surroundings, ...other });
  const read = async (options: Parameters<typeof readSource>[2] = {}) => {
    const result = await readSource(connector, configuration, { surroundings, ...options });
    return { ...result, all: result.records.things ?? [], things: (result.records.things ?? []).map(withoutOrigin) };
  };
  return { configuration, surroundings, check, read };
}

function withoutOrigin({ _file, _file_modified_at, ...record }: Record<string, unknown>) {
  return record;
}
