/** What customers read of the failures of every bundled connector, when the operator's template has set nearly everything. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connector as file } from '@inlay/connectors/file/file';
import { connector as httpApi } from '@inlay/connectors/http-api/http-api';
import { explainFailure } from '@inlay/connectors/postgres/failures';
import { readServer } from '@inlay/connectors/postgres/server';
import { connector as sampleData } from '@inlay/connectors/sample-data/connector';
import { connector as postgres } from '@inlay/connectors/source-postgres/source-postgres';
import { type Configuration, ConnectorError, type SourceConnector } from '@inlay/protocol/connector';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../scripts/disposable.mjs';
import { failureTexts } from '../src/pipelines/failure-texts.ts';
import { startTestApp } from './support/app.ts';
import {
  customer,
  fileSource,
  httpApi as httpApiId,
  makeConnectionTemplate,
  makeSourceTemplate,
  postgresDestination,
  postgresSource,
} from './support/pipelines.ts';

const ours = { code: 'problem_on_our_side', parameters: {} };
const folder = mkdtempSync(join(tmpdir(), 'inlay-planted-'));
const surroundings = {
  workspaceDir: undefined,
  readableDirs: [folder],
  allowPrivateNetworks: true,
  serviceEndpoints: [],
};

/** Answers as the last part of the path says. */
const server = createServer((request, response) => {
  const [, , how = ''] = new URL(request.url ?? '', 'http://x').pathname.split('/');
  (how === 'wrapped' ? wrapped : answers[how])?.(response);
});
const json = (body: unknown) => (response: ServerResponse) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
const status = (code: number) => (response: ServerResponse) => void response.writeHead(code).end('{}');
const answers: Record<string, (response: ServerResponse) => void> = {
  'planted-401': status(401),
  'planted-403': status(403),
  'planted-404': status(404),
  'planted-418': status(418),
  'planted-500': status(500),
  'planted-429': status(429),
  'planted-page': (response) => response.setHeader('content-type', 'text/html').end('<html>'),
  'planted-text': (response) => response.end('hello'),
  'planted-cut': (response) => response.end('{"a": ['),
  'planted-list': json([1, 2]),
  'planted-other': json({ elsewhere: [] }),
  'planted-round': (response) => response.writeHead(302, { location: '/v1/planted-round' }).end(),
  'planted-away': (response) => void response.destroy(),
};
/** An API whose list is one level down. */
const wrapped = json({ count: 2, data: { items: [{ id: 1 }, { id: 2 }] } });
let origin: string;
let port: number;

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  port = (server.address() as AddressInfo).port;
  origin = `http://127.0.0.1:${port}`;
});
afterAll(() => server.close());

async function failureOf({ check }: SourceConnector, config: Configuration): Promise<ConnectorError> {
  const error = await check(config, surroundings).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ConnectorError)) throw new Error(`no failure of the connector: ${error}`);
  return error;
}

/** What the customer reads when `defaults` are the template's and only `given` is the customer's. */
function customersText(
  { specification, subject }: SourceConnector,
  { message, failureType: type, fields = subject }: ConnectorError,
  defaults: Configuration,
  given: Configuration,
) {
  const failure = { message, type, fields: [...fields], origin: 'source' as const };
  return failureTexts(failure, { specification, defaults, given });
}

describe('customers read nothing that the template has set', () => {
  const isPlanted = (text: string) =>
    /planted/i.test(text) || text.includes('127.0.0.1') || text.includes(String(port));

  test('of any failure of http-api, and point at the key where that is at fault', async () => {
    for (const how of Object.keys(answers)) {
      const defaults = { base_url: `${origin}/v1`, streams: [{ name: 'planted', path: how, record_path: 'a.b' }] };
      const given = { authentication: { type: 'bearer', token: 'the-key' } };
      const error = await failureOf(httpApi, { ...defaults, ...given });
      const { operator, reasons } = customersText(httpApi, error, defaults, given);
      expect(isPlanted(operator), operator).toBe(true);
      const isOfKey = how.endsWith('401') || how.endsWith('403');
      expect(reasons.customer, how).toEqual(
        isOfKey ? { code: 'check_fields', parameters: { fields: ['Authentication'] } } : ours,
      );
    }
  });

  test('of any failure of http-api whose streams are their own', async () => {
    for (const how of Object.keys(answers)) {
      const defaults = { base_url: `${origin}/planted` };
      const given = { streams: [{ name: 'mine', path: how, record_path: 'a.b' }] };
      const error = await failureOf(httpApi, { ...defaults, ...given });
      const { customer } = customersText(httpApi, error, defaults, given);
      expect(customer.replaceAll(how, ''), how).not.toMatch(/planted|127\.0\.0\.1/);
    }
  });

  test('of any failure of file, on the web and on the disk', async () => {
    writeFileSync(join(folder, 'planted.json'), '{"a": [');
    writeFileSync(join(folder, 'planted.gz'), Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6]));
    const locations = [
      ...Object.keys(answers).map((how) => ({ type: 'url', url: `${origin}/v1/${how}` })),
      { type: 'url', url: 'http://planted.invalid/planted.json' },
      ...['planted.json', 'planted.gz', 'planted-missing', 'planted-*', '.'].map((name) => ({
        type: 'path',
        path: join(folder, name),
      })),
      { type: 'path', path: '/planted/outside' },
    ];
    for (const location of locations) {
      const defaults = { stream_name: 'planted', location, format: { type: 'json' } };
      const given = { primary_key: ['nowhere'] };
      const error = await failureOf(file, { ...defaults, ...given });
      const { customer, reasons } = customersText(file, error, defaults, given);
      // What the template leaves open may be missing, as a token, or wrong, as the key.
      const isCustomers = error.message.includes('(401)') || error.message.includes('no field nowhere');
      if (isCustomers) expect(customer).toBe(error.message);
      else expect(reasons.customer, error.message).toEqual(ours);
    }
  });

  test('of any failure of postgres, with the password as their own', async () => {
    const defaults = { host: 'planted-host', port: 6543, database: 'planted-database', username: 'planted-user' };
    const given = { password: 'the-password', ssl_mode: { mode: 'verify-full' } };
    const link = (code: string, message = 'planted-host') => Object.assign(new Error(message), { code });
    const refusal = (code: string) =>
      Object.assign(new pg.DatabaseError('no pg_hba.conf entry for host "planted-host"', 0, 'error'), { code });
    const errors = [
      ...'ECONNREFUSED ETIMEDOUT EHOSTUNREACH ERR_TLS_CERT_ALTNAME_INVALID CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT ECONNRESET'
        .split(' ')
        .map((code) => link(code)),
      new Error('The server does not support SSL connections'),
      new Error('There was an error establishing an SSL connection'),
      new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
      ...'28P01 28000 3D000 42501 25006 53300 55P03 57014 08006 40001 58030 23505 54000 0A000'.split(' ').map(refusal),
    ];
    for (const raw of errors) {
      const error = explainFailure(raw, readServer({ ...defaults, ...given }));
      if (!(error instanceof ConnectorError)) throw new Error(`not explained: ${raw}`);
      const { customer, reasons } = customersText(postgres, error, defaults, given);
      expect(customer).not.toMatch(/planted|6543/);
      expect(['problem_on_our_side', 'check_fields'], customer).toContain(reasons.customer?.code);
    }
    const unknownHost = await failureOf(postgres, { ...defaults, ...given, host: 'planted.invalid' });
    const { reasons } = customersText(postgres, unknownHost, { ...defaults, host: 'planted.invalid' }, given);
    expect(reasons.customer).toEqual(ours);
  });

  test('of any failure of sample-data', async () => {
    const defaults = { seed: -7351 };
    const error = await failureOf(sampleData, { count: 5, ...defaults });
    expect(customersText(sampleData, error, defaults, { count: 5 }).reasons.customer).toEqual(ours);
    const own = await failureOf(sampleData, { count: 0, seed: 7 });
    expect(customersText(sampleData, own, { seed: 7 }, { count: 0 }).customer).toMatch(/^count .* 1\.$/);
  });
});

test('checks, sources, connections and jobs show operators everything and customers only what is theirs', async () => {
  const app = await startTestApp('sqlite', { env: { PORT: String(await freePort()) } });
  onTestFinished(() => app.stop());
  await app.app.listen();
  await makeConnectionTemplate(app, {
    destination_name: 'Warehouse',
    destination_definition_id: postgresDestination,
    destination_config: {
      host: '127.0.0.1',
      port: 1,
      database: 'planted-warehouse',
      username: 'planted-user',
      password: 'planted-password',
      ssl_mode: { mode: 'disable' },
    },
    sync_on_create: true,
  });
  const planted = { host: '127.0.0.1', port: 1, database: 'planted-shop', username: 'planted-user' };
  const fixed = await makeSourceTemplate(app, {
    actor_definition_id: postgresSource,
    partial_default_config: { ...planted, ssl_mode: { mode: 'disable' } },
  });
  const api = await makeSourceTemplate(app, {
    actor_definition_id: httpApiId,
    partial_default_config: { base_url: 'http://127.0.0.1:1/planted', streams: [{ name: 'planted', path: 'x' }] },
  });
  const onDisk = await makeSourceTemplate(app, {
    actor_definition_id: fileSource,
    partial_default_config: { location: { type: 'path', path: '/planted/file.csv' }, format: { type: 'csv' } },
  });
  const sample = await makeSourceTemplate(app);
  const one = await customer(app, 'one');
  const configs: [string, object][] = [
    [fixed, { password: 'p' }],
    [api, { authentication: { type: 'bearer', token: 'the-key' } }],
    [onDisk, { stream_name: 'mine' }],
  ];
  const said: string[] = [];
  const asOperator = async (path: string) =>
    (await app.request('GET', `/api/v1/integrations${path}?workspace_id=${one.workspaceId}`)).body;

  for (const [template, config] of configs) {
    const started = await one.request('POST', '/sources/check', {
      source_template_id: template,
      source_config: config,
    });
    const read = () => asOperator(`/sources/check/${started.body.id}/status`);
    await expect.poll(async () => (await read()).status).toBe('failed');
    expect((await read()).error_message).toMatch(/127\.0\.0\.1|planted|allow a folder/);
    const shown = await one.request('GET', `/sources/check/${started.body.id}/status`);
    expect(shown.body).toMatchObject({ error_reason: ours });
    said.push(shown.text);
  }

  const streams = [{ name: 'orders', path: 'wrapped' }];
  const ofCustomer = await makeSourceTemplate(app, {
    actor_definition_id: httpApiId,
    partial_default_config: { base_url: `${origin}/v1`, authentication: { type: 'none' } },
  });
  const ofTemplate = await makeSourceTemplate(app, {
    actor_definition_id: httpApiId,
    partial_default_config: { base_url: `${origin}/v1`, authentication: { type: 'none' }, streams },
  });
  const warning = { code: 'one_record', stream: 'orders', record_path: 'data.items', message: expect.any(String) };
  const connected = { id: expect.any(String), status: 'succeeded', error_message: null, error_reason: null };
  const own = await one.check(ofCustomer, { streams });
  expect(own).toEqual({ ...connected, warnings: [warning] });
  const others = await one.check(ofTemplate, {});
  expect(others).toEqual(connected);
  expect(await asOperator(`/sources/check/${others.id}/status`)).toMatchObject({ warnings: [warning] });

  const failing = await one.connect(fixed, { source_config: { password: 'p' } });
  expect((await one.settled(failing)).status_reason).toEqual(ours);
  expect((await asOperator(`/sources/${failing}`)).status_message).toContain('127.0.0.1:1');
  const syncing = await one.connect(sample);
  await one.settled(syncing);
  const connections = async () => (await one.request('GET', '/connections')).body.data;
  const ofSample = async () =>
    (await connections()).find(({ source_id }: { source_id: string }) => source_id === syncing);
  await expect.poll(async () => (await ofSample()).last_run?.error_reason).toEqual(ours);
  const { id } = await ofSample();
  const jobs = await one.request('GET', `/connections/${id}/jobs`);
  expect(jobs.body.data[0].error_reason).toEqual(ours);
  expect((await asOperator(`/connections/${id}/jobs`)).data[0].error).toContain('127.0.0.1:1');

  for (const path of ['/sources', `/sources/${failing}`, '/connections', `/connections/${id}/jobs`]) {
    said.push((await one.request('GET', path)).text);
  }
  expect(said.join('\n')).not.toMatch(/planted|127\.0\.0\.1/);
});
