import { afterAll, beforeAll, expect, it } from 'vitest';
import { type S3Server, startS3Server } from '../../test/s3-server.ts';
import { s3Client } from './client.ts';
import { claimFolder } from './owners.ts';
import { readSettings } from './settings.ts';

const surroundings = { workspaceDir: undefined, readableDirs: [], allowPrivateNetworks: true, serviceEndpoints: [] };

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server();
});
afterAll(() => server.stop());

function open() {
  const config = {
    bucket: server.bucket,
    region: server.region,
    endpoint: server.url,
    access_key_id: server.accessKeyId,
    secret_access_key: server.secretAccessKey,
  };
  return s3Client(readSettings(config), surroundings, 3);
}

it('a folder of another workspace is never written', async () => {
  const client = open();
  await claimFolder(client, 'shared/acme_corp_users/', 'acme-corp');
  await claimFolder(client, 'shared/acme_corp_users/', 'acme-corp');
  await expect(claimFolder(client, 'shared/acme_corp_users/', 'acme')).rejects.toThrow(
    /shared\/acme_corp_users\/ .*belongs to another/,
  );
  await claimFolder(client, 'shared/acme_users/', 'acme');
  await client.close();
});

it('of two workspaces that claim a folder at the same moment at most one writes to it', async () => {
  const client = open();
  const outcomes = await Promise.allSettled(
    ['one', 'two'].map((workspaceId) => claimFolder(client, 'shared/raced/', workspaceId)),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
  const marks = [];
  for await (const keys of client.listKeys('shared/raced/')) marks.push(...keys);
  expect(marks.length).toBe(outcomes.filter(({ status }) => status === 'fulfilled').length);
  await client.close();
});
