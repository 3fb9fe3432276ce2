import { chmodSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startPlatform, testOnStores as test } from '../../test/start-platform.ts';
import { programOf, startSteered } from '../../test/steered.ts';
import type { OpenPlatform } from '../open-platform.ts';
import { listRegisteredDefinitions, registerDefinition, removeDefinition } from './registered-definitions.ts';

/** A program that answers `spec` with this line. */
function answering(file: string, line: string): [string] {
  const program = join(dirname(file), 'connector.sh');
  writeFileSync(program, `#!/bin/sh\necho '${line}'\n`);
  chmodSync(program, 0o700);
  return [program];
}

describe('a registered connector', () => {
  test('is listed with its specification and used as any other', async () => {
    const { call, sourceDefinitionId, connect, ended, platform } = await startSteered();
    const { data } = (await call('GET', '/connector_definitions?type=source')).body;
    expect(data.find(({ id }: { id: string }) => id === sourceDefinitionId)).toMatchObject({
      name: 'Steered source',
      version: 'local',
      specification: { connectionSpecification: { required: ['folder'] } },
    });
    const connection = await connect();
    expect((await call('GET', `/sources/${connection.sourceId}`)).body).toMatchObject({
      sourceType: '',
      definitionId: sourceDefinitionId,
      configuration: { password: '**********' },
    });
    expect((await ended((await connection.sync()).jobId)).status).toBe('succeeded');
    expect((await listRegisteredDefinitions(platform.definitions)).map(({ name }) => name)).toEqual([
      'Steered source',
      'Steered destination',
    ]);
  });

  test('shows nobody which program it is', async () => {
    const { call, sourceDefinitionId } = await startSteered();
    const { workspaceId } = (await call('POST', '/workspaces', { name: 'w' })).body;
    const path = `/workspaces/${workspaceId}/definitions/sources/${sourceDefinitionId}`;
    const replies = [(await call('GET', path)).body, (await call('GET', '/connector_definitions?type=source')).body];
    expect(replies[0]).toMatchObject({ dockerRepository: '', dockerImageTag: 'local' });
    expect(JSON.stringify(replies)).not.toContain('steered-source');
  });

  test('is checked against its own specification', async () => {
    const { call, sourceDefinitionId } = await startSteered();
    const { workspaceId } = (await call('POST', '/workspaces', { name: 'w' })).body;
    const source = { name: 's', workspaceId, definitionId: sourceDefinitionId, configuration: {} };
    expect((await call('POST', '/sources', source)).status).toBe(422);
    const byType = { name: 's', workspaceId, configuration: { sourceType: '', folder: 'x' } };
    expect(await call('POST', '/sources', byType)).toMatchObject({ status: 400, body: { title: 'value-not-found' } });
  });

  test('stays while it is in use', async () => {
    const { connect, platform, sourceDefinitionId, call } = await startSteered();
    const { sourceId } = await connect();
    await expect(removeDefinition(platform.definitions, sourceDefinitionId)).rejects.toMatchObject({
      title: 'state-conflict',
      data: { message: expect.stringMatching(/used by: source\.$/) },
    });
    await call('DELETE', `/sources/${sourceId}`);
    await removeDefinition(platform.definitions, sourceDefinitionId);
    await expect(removeDefinition(platform.definitions, sourceDefinitionId)).rejects.toMatchObject({
      title: 'resource-not-found',
    });
    expect(await listRegisteredDefinitions(platform.definitions)).toHaveLength(1);
  });
});

describe('the command of a connector', () => {
  const answer = JSON.stringify({ type: 'SPEC', spec: { connectionSpecification: { type: 'object' } } });
  const registerIn = async (platform: OpenPlatform, folder: string, ...command: [string, ...string[]]) =>
    await registerDefinition(platform.definitions, {
      kind: 'source',
      name: 'x',
      launch: { type: 'command', command, folder },
    });

  test('runs in the folder where it was added, so that its relative paths are found', async () => {
    const { platform, file } = await startPlatform();
    const folder = dirname(file);
    writeFileSync(join(folder, 'spec.json'), answer);
    writeFileSync(join(folder, 'run'), '#!/bin/sh\ncat spec.json\n', { mode: 0o700 });
    const byProgram = await registerIn(platform, folder, './run');
    expect(byProgram.launch).toEqual({ type: 'command', command: [join(folder, 'run')], folder });
    const byArgument = await registerIn(platform, folder, 'sh', 'run');
    expect(byArgument.launch).toEqual({ type: 'command', command: ['sh', 'run'], folder });
  });

  it.each([
    [['./other'], 'No executable program at '],
    [['run'], 'No executable program named run in PATH. To use the file in '],
    [['no-such-program'], 'No executable program named no-such-program in PATH. Check the path'],
  ] as [[string], string][])('is refused as %j with words that help', async (command, words) => {
    const { platform, file } = await startPlatform();
    writeFileSync(join(dirname(file), 'run'), '#!/bin/sh\n', { mode: 0o700 });
    await expect(registerIn(platform, dirname(file), ...command)).rejects.toMatchObject({
      data: { message: expect.stringContaining(words) },
    });
    await expect(registerIn(platform, '/no/such/folder', 'sh')).rejects.toMatchObject({
      data: { message: expect.stringMatching(/^\/no\/such\/folder is not/) },
    });
  });
});

describe('a connector is not registered', () => {
  const unusable = (message: string) => ({
    title: 'unprocessable-entity',
    data: { message: expect.stringContaining(message) },
  });
  const spec = (connectionSpecification: object) => JSON.stringify({ type: 'SPEC', spec: { connectionSpecification } });

  it.each([
    ['does not exist', ['/no/such/program'], unusable('No executable program at /no/such/program.')],
    [
      'is a relative path of no folder',
      ['./run'],
      unusable("./run is not an absolute path. Use the program's absolute path."),
    ],
    ['does not speak the protocol', [process.execPath, '-e', ''], { name: 'RunFailure' }],
    ['names no image', 'image', { title: 'unprocessable-entity' }],
  ] as const)('when it %s', async (_why, command, expected) => {
    const { platform } = await startPlatform();
    const launch =
      command === 'image'
        ? ({ type: 'image', image: '--privileged' } as const)
        : ({ type: 'command', command: [command[0], ...command.slice(1)] } as const);
    await expect(registerDefinition(platform.definitions, { kind: 'source', name: 'x', launch })).rejects.toMatchObject(
      expected,
    );
    expect(await listRegisteredDefinitions(platform.definitions)).toEqual([]);
  });

  test('when its specification is no schema', async () => {
    const { platform, file } = await startPlatform();
    const launch = { type: 'command', command: answering(file, spec({ type: 'nonsense' })) } as const;
    await expect(registerDefinition(platform.definitions, { kind: 'source', name: 'x', launch })).rejects.toMatchObject(
      {
        title: 'unprocessable-entity',
        data: { message: expect.stringContaining('JSON Schema') },
      },
    );
  });

  test('by any request of the API', async () => {
    const { call } = await startPlatform();
    const { workspaceId } = (await call('POST', '/workspaces', { name: 'w' })).body;
    const body = { name: 'x', command: programOf('steered-source') };
    for (const path of ['/connector_definitions', `/workspaces/${workspaceId}/definitions/sources`]) {
      expect((await call('POST', path, body)).status).toBe(404);
    }
  });
});
