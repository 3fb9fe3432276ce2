/** What public generators make of the OpenAPI document: clients that can be read and that compile. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { generatorsFolder as generators, installOwnPackages } from '../../scripts/own-packages.mjs';
import { startTestApp } from './support/app.ts';

const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  await installOwnPackages(generators);
  // Inside the folder of the generators, so that a client finds the packages it needs.
  await mkdir(join(generators, 'dist'), { recursive: true });
  folder = await mkdtemp(join(generators, 'dist', 'clients-'));
  const app = await startTestApp('sqlite');
  const document = await app.request('GET', '/openapi.json', { token: null });
  await app.stop();
  await writeFile(join(folder, 'openapi.json'), document.text);
  await run(process.execPath, [join(generators, 'generate.mjs'), join(folder, 'openapi.json'), folder]);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const useOfTypes = `
import type { components, paths } from './types.ts';
type Schemas = components['schemas'];

export function describe(workspace: Schemas['Workspace']): string {
  const status: 'active' | 'inactive' = workspace.status;
  return workspace.name + status;
}
export function created(result: Schemas['SyncResult']): string[] {
  return result['created_workspace IDs'];
}
export function workspaceOf(info: Schemas['ScopedTokenInfo']): string {
  return info['workspace ID'];
}
export function explain(error: Schemas['ErrorBody'] | Schemas['ValidationErrorBody']): string {
  return typeof error.detail === 'string' ? error.detail : error.detail.map(({ loc, msg }) => loc.join('.') + msg).join();
}
export const code: Schemas['ErrorCode'] = 'workspace_not_found';
// @ts-expect-error: the list of codes is closed
export const unknown: Schemas['ErrorCode'] = 'no_such_code';

type Page = paths['/api/v1/workspaces']['get']['responses'][200]['content']['application/json'];
export const firstOf = (page: Page): Schemas['Workspace'] | undefined => page.data[0];
type Headers = paths['/api/v1/workspaces']['get']['responses'][429] extends { headers: infer H } ? H : never;
export const retryAfter = (headers: Headers) => headers['Retry-After'];
`;

const useOfFunctions = `
import { generateScopedToken, listWorkspaces, type TokenResponse, type Workspace } from './functions.ts';

export async function tokenFor(name: string): Promise<TokenResponse> {
  const answer = await generateScopedToken({ workspace_name: name });
  if (answer.status === 200) return answer.data;
  if (answer.status === 422) throw new Error(answer.data.detail.map(({ msg }) => msg).join());
  throw new Error(answer.data.detail);
}
export async function names(): Promise<string[]> {
  const answer = await listWorkspaces({ limit: 10, status: 'active' });
  if (answer.status !== 200) throw new Error('no list');
  return answer.data.data.map((workspace: Workspace) => workspace.name);
}
`;

it('have the types of the contract under their names', async () => {
  const named = ['Workspace', 'WorkspacePage', 'SyncResult', 'TokenResponse', 'ErrorBody', 'Fault', 'SourceTemplate'];
  const [types, functions] = await Promise.all(
    ['types.ts', 'functions.ts'].map((file) => readFile(join(folder, file), 'utf8')),
  );
  for (const name of named) {
    expect(types).toMatch(new RegExp(`^ {8}${name}: \\{$`, 'm'));
    expect(functions).toMatch(new RegExp(`^export type ${name} = `, 'm'));
  }
});

it('are short enough to be read', async () => {
  const lines = async (file: string) => (await readFile(join(folder, file), 'utf8')).split('\n').length;
  const { paths, webhooks } = JSON.parse(await readFile(join(folder, 'openapi.json'), 'utf8'));
  const operations = Object.values<object>({ ...paths, ...webhooks }).flatMap((path) => Object.keys(path)).length;
  // Most of an operation's lines are its answers. A schema that is written out at every use adds to each of them.
  expect((await lines('types.ts')) / operations).toBeLessThan(165);
  expect((await lines('functions.ts')) / operations).toBeLessThan(55);
});

it('compile, and so does a program that uses them', async () => {
  await writeFile(join(folder, 'use-of-types.ts'), useOfTypes);
  await writeFile(join(folder, 'use-of-functions.ts'), useOfFunctions);
  const compilerOptions = {
    noEmit: true,
    strict: true,
    target: 'es2022',
    lib: ['es2023', 'dom'],
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: [],
  };
  const files = ['use-of-types.ts', 'use-of-functions.ts'];
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  // The compiler of the generators, which their users have.
  const compiler = join(generators, 'node_modules/typescript/lib/tsc.js');
  const complaints = await run(process.execPath, [compiler, '-p', folder]).then(
    () => '',
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  );
  expect(complaints).toBe('');
});
