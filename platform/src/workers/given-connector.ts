/** A connector as a worker gets it: what starts it there, and its configuration with the secrets in it. Nothing of it is kept. */
import { readFile } from 'node:fs/promises';
import type { AnswerOf, GivenConnector, GivenToken, WorkerLaunch } from '../attempts/worker-messages.ts';
import { hashOf } from '../definitions/manifests.ts';
import type { Launch } from '../runner/programs.ts';
import type { ConfiguredConnector, FreshToken } from '../runner/runner.ts';
import type { Runtime } from '../runtime.ts';

export interface GivenLaunch {
  launch: WorkerLaunch;
  /** What a manifest is made of. */
  texts?: AnswerOf['manifest'];
}

export async function givenLaunch(launch: Launch, name: string): Promise<GivenLaunch> {
  if (launch.type === 'command') return { launch: { type: 'command', name } };
  if (launch.type !== 'manifest') return { launch };
  const { manifest, componentsFile } = launch;
  const code = componentsFile === undefined ? undefined : await readFile(componentsFile, 'utf8');
  return {
    launch: { type: 'manifest', hash: hashOf(manifest), ...(code !== undefined && { codeHash: hashOf(code) }) },
    texts: { manifest, ...(code !== undefined && { code }) },
  };
}

export function givenConnector(
  ctx: { runtime: Pick<Runtime, 'now'> },
  { rowBlocks, configuration, secrets, signIn }: ConfiguredConnector,
): Omit<GivenConnector, 'launch'> {
  if (signIn?.handsOver) throw new Error('a refresh token goes to no worker');
  const { values, fields, generation, expiresAt } = signIn ?? {};
  const token = values && { generation: generation ?? 0, values, expiresAt: expiresAt ?? null, secrets: [] };
  return {
    rowBlocks,
    configuration,
    secrets: [...secrets],
    ...(token && fields && { signIn: { token: givenToken(ctx, token), fields: { ...fields } } }),
  };
}

export function givenToken(
  { runtime }: { runtime: Pick<Runtime, 'now'> },
  { generation, values, secrets, expiresAt }: FreshToken,
): GivenToken {
  const expiresInMs = expiresAt === null ? null : Math.max(0, expiresAt - runtime.now());
  return { generation, values: { ...values }, secrets: [...secrets], expiresInMs };
}
