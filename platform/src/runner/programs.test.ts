import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { connectorProgram } from './programs.ts';

const surroundings = {
  connectorsProgram: '/opt/inlay/connectors/main.js',
  workspaceDir: '/data/files/w1',
  readableDirs: ['/srv/in', '/srv/more'],
  allowPrivateNetworks: false,
  serviceEndpoints: [{ host: 'inlay.example', port: 443 }],
};
const environment = { PATH: '/bin', HOME: '/root', DOCKER_HOST: 'unix:///d.sock', DATABASE_PASSWORD: 'p' };

describe('a program', () => {
  test('of a bundled connector receives its limits, and nothing of the service', () => {
    const launch = { type: 'bundled', name: 'sample-data' } as const;
    expect(connectorProgram(launch, 'source', surroundings, environment)).toEqual({
      kind: 'source',
      program: process.execPath,
      args: ['/opt/inlay/connectors/main.js', 'sample-data'],
      env: {
        PATH: '/bin',
        INLAY_WORKSPACE_DIR: '/data/files/w1',
        INLAY_READABLE_DIRS: '/srv/in\n/srv/more',
        INLAY_ALLOW_PRIVATE_NETWORKS: 'false',
        INLAY_SERVICE_ENDPOINTS: '[{"host":"inlay.example","port":443}]',
      },
      handover: 'input',
      isRecordTextValid: true,
    });
  });

  test('of someone else has its records checked', () => {
    const launches = [
      { type: 'command', command: ['python3'] },
      { type: 'image', image: 'acme/source' },
    ] as const;
    for (const launch of launches) {
      expect(connectorProgram(launch, 'source', surroundings, environment)).not.toHaveProperty('isRecordTextValid');
    }
  });

  test('of a bundled connector gets further certificates only where it can use them', () => {
    const certificates = { ...environment, NODE_EXTRA_CA_CERTS: '/etc/ca.pem' };
    const envOf = (name: string) =>
      connectorProgram({ type: 'bundled', name }, 'source', surroundings, certificates).env;
    expect(envOf('http-api').NODE_EXTRA_CA_CERTS).toBe('/etc/ca.pem');
    expect(envOf('sample-data').NODE_EXTRA_CA_CERTS).toBeUndefined();
  });

  test('of a bundled connector that may keep much in memory collects its garbage before it meets the limit', () => {
    const launch = { type: 'bundled', name: 'source-postgres' } as const;
    const limits = { memoryBytes: 512 * 1024 ** 2, openFiles: 100 };
    const { args } = connectorProgram(launch, 'source', { ...surroundings, limits }, environment);
    expect(args).toEqual(['--max-old-space-size=384', '/opt/inlay/connectors/main.js', 'source-postgres']);
  });

  test('of a command line keeps its arguments as they are', () => {
    const launch = { type: 'command', command: ['python3', '/opt/my source.py', '-v'] } as const;
    const { program, args } = connectorProgram(launch, 'source', surroundings, environment);
    expect([program, args]).toEqual(['python3', ['/opt/my source.py', '-v']]);
  });

  test('of a command line has the home of the service, or a folder that exists, and runs where it was added', () => {
    const command = ['./run'] as const;
    const there = tmpdir();
    const launch = { type: 'command', command, folder: '/opt/erp' } as const;
    const { env, workingDir } = connectorProgram(launch, 'source', surroundings, { ...environment, HOME: there });
    expect([env.HOME, workingDir]).toEqual([there, '/opt/erp']);
    const homeless = connectorProgram(launch, 'source', surroundings, { ...environment, HOME: '/nonexistent' });
    expect(homeless.env.HOME).toBe(tmpdir());
  });

  test('of an image runs a container that sees its files and nothing else, and can be removed by name', () => {
    const launch = { type: 'image', image: 'example/source:1.2' } as const;
    const container = connectorProgram(launch, 'source', { ...surroundings, containerNetwork: 'lane' }, environment);
    const args = typeof container.args === 'function' ? container.args('/data/runs/run-abc') : [];
    expect(container.program).toBe('docker');
    expect(container.env).toEqual({ PATH: '/bin', HOME: '/root', DOCKER_HOST: 'unix:///d.sock' });
    expect(args.slice(0, 7)).toEqual([
      ...['run', '--rm', '--interactive', '--name', 'run-abc'],
      ...['--mount', 'type=bind,source=/data/runs/run-abc,target=/data/runs/run-abc,readonly'],
    ]);
    expect(args.slice(-5)).toEqual(['--network', 'lane', '--env', 'TRACEPARENT', 'example/source:1.2']);
    expect(args.join(' ')).toContain('--memory 1073741824 --memory-swap 1073741824 --ulimit nofile=1024:1024');
    expect(args).toContain(`${process.getuid?.()}:${process.getgid?.()}`);
    expect(container.removalArgs?.('/data/runs/run-abc')).toEqual(['rm', '--force', 'run-abc']);
  });
});
