/** The audit trail over HTTP: who, from where and with which outcome; what customers read; exports, erasure, checkpoints. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditEvent } from '@inlay/contract/log/audit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exitCodes } from '../src/edge/cli/exit-codes.ts';
import { addTenant } from './security/support.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { runCommand } from './support/command-line.ts';
import { describeOnOneDatabase } from './support/databases.ts';
import { customer, makeSourceTemplate, sampleData } from './support/pipelines.ts';

const path = '/api/v1/audit-events';

describeOnOneDatabase('The audit trail', (kind) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp(kind, { env: { INLAY_TRUSTED_PROXIES: '127.0.0.1' } });
  });
  afterAll(() => test.stop());

  const read = async (query = '', token?: string) => {
    await test.app.workers.sequencer.pass();
    const answer = await test.request('GET', `${path}?limit=500&${query}`, token === undefined ? {} : { token });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data;
  };
  const viaProxy = { 'x-forwarded-for': '203.0.113.7', 'user-agent': 'shop/1.0' };

  it('says who did what, from where, with which outcome, and what was before and after', async () => {
    const { body: token } = await test.request('POST', '/api/v1/operator-tokens', {
      body: { name: 'reader', permission: 'read' },
    });
    await test.request('POST', '/api/v1/integrations/templates/tags', { body: { name: 'crm' } });
    const headers = { ...viaProxy, 'x-request-id': 'renaming' };
    await test.request('PUT', '/api/v1/integrations/templates/tags/crm', { headers, body: { name: 'sales' } });
    const [renamed] = await read('types=tag.renamed');
    expect(renamed).toMatchObject({
      outcome: 'done',
      actor: { kind: 'operator_token', id: expect.any(String), name: expect.any(String) },
      address: '203.0.113.7',
      user_agent: 'shop/1.0',
      request_id: 'renaming',
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      patch: [
        { op: 'test', path: '/name', value: 'crm' },
        { op: 'replace', path: '/name', value: 'sales' },
      ],
    });

    // A read-only token, three times: the first refusal is logged at once, the others are counted.
    for (let count = 0; count < 3; count++) {
      const answer = await test.request('DELETE', '/api/v1/integrations/templates/tags/sales', { token: token.token });
      expect(answer.status).toBe(403);
    }
    await test.request('GET', '/api/v1/workspaces', { headers: { 'x-organization-id': 'another' } });
    for (let count = 0; count < 12; count++) {
      await test.request('GET', '/api/v1/workspaces', { token: 'wrong', headers: viaProxy });
    }
    const widget = await test.request('POST', '/api/v1/embedded/widget-token', {
      body: { workspace_name: 'framed', allowed_origin: 'https://app.example' },
    });
    const { token: scoped } = JSON.parse(Buffer.from(widget.body.token, 'base64').toString());
    const foreign = await test.request('GET', '/api/v1/embedded/sources', {
      token: scoped,
      headers: { origin: 'https://evil.example' },
    });
    expect(foreign.status).toBe(403);
    await test.app.keepHouse();
    const refused = await read('outcome=refused');
    const told = refused.map(({ type, data, actor, event_position }: AuditEvent) => ({
      type,
      ...data,
      actor: actor.kind,
      event_position,
    }));
    const route = '/api/v1/integrations/templates/tags/:tag_name';
    const byReader = {
      type: 'request.refused',
      method: 'DELETE',
      route,
      reason: 'permission',
      actor: 'operator_token',
    };
    expect(told).toEqual(
      expect.arrayContaining([
        { ...byReader, count: 1, event_position: null },
        { ...byReader, count: 2, event_position: null },
        expect.objectContaining({ reason: 'organization', count: 1 }),
        expect.objectContaining({ reason: 'origin', actor: 'scoped_token', route: '/api/v1/embedded/sources' }),
        expect.objectContaining({ type: 'token.refused', count: 12, addresses: 1 }),
      ]),
    );
    expect(told).toHaveLength(5);
    expect(refused.find(({ type }: { type: string }) => type === 'token.refused').address).toBe('203.0.113.7');
    // Refusals take no positions from the events.
    const { data, next } = (await test.request('GET', '/api/v1/events?limit=500')).body;
    expect(data.map(({ position }: { position: number }) => position)).toEqual(
      Array.from({ length: next }, (_, index) => index + 1),
    );
  });

  it('is read newest first, page by page, as the timeline of a workspace', async () => {
    const { workspaceId } = await customer(test, 'timeline');
    for (const name of ['timeline 2', 'timeline 3'])
      await test.request('PUT', `/api/v1/workspaces/${workspaceId}`, { body: { name } });
    const oldest = await read(`workspace_id=${workspaceId}`);
    expect(oldest.length).toBeGreaterThan(3);
    const newest: typeof oldest = [];
    for (let before = ''; before !== '&before=0'; ) {
      const query = `sort=-position&limit=2&workspace_id=${workspaceId}${before}`;
      const { body } = await test.request('GET', `/api/v1/audit-events?${query}`);
      newest.push(...body.data);
      before = `&before=${body.next}`;
    }
    expect(newest).toEqual(oldest.toReversed());
    expect((await read('sort=-position'))[0].position).toBeGreaterThanOrEqual(newest[0].position);
  });

  it('shows a customer only its own workspace, and nothing of the operator’s', async () => {
    const acme = await customer(test, 'acme');
    const other = await customer(test, 'other');
    const templateId = await makeSourceTemplate(test, { actor_definition_id: sampleData, name: 'Sample' });
    const secret = 'a very secret value';
    const made = await acme.request('POST', '/sources', {
      source_template_id: templateId,
      name: 'Shop',
      source_config: { count: 10 },
    });
    expect(made.status, made.text).toBe(201);
    await other.request('POST', '/sources', {
      source_template_id: templateId,
      name: 'Theirs',
      source_config: { count: 1 },
    });
    await acme.request('PUT', `/sources/${made.body.id}`, { source_config: { count: 20 } });
    await test.request('PUT', `/api/v1/workspaces/${acme.workspaceId}`, {
      headers: viaProxy,
      body: { status: 'inactive' },
    });
    await test.request('POST', `/api/v1/workspaces/${other.workspaceId}/tokens/revoke`);
    await test.app.workers.sequencer.pass();
    const own = await test.request('GET', '/api/v1/embedded/audit-events', { token: acme.token });
    expect(own.status, own.text).toBe(200);
    const { data } = own.body;
    expect(new Set(data.map(({ workspace_id }: { workspace_id: string }) => workspace_id))).toEqual(
      new Set([acme.workspaceId]),
    );
    const ofType = (type: string) => data.find((entry: { type: string }) => entry.type === type);
    expect(ofType('source.created')).toMatchObject({
      actor: { kind: 'token' },
      address: '127.0.0.1',
      patch: [
        { op: 'add', path: '/name', value: 'Shop' },
        { op: 'add', path: '/source_config', value: { count: 10 } },
      ],
    });
    // The operator reads which version of its template the source has.
    const [created] = await read(`types=source.created&workspace_id=${acme.workspaceId}`);
    expect(created.patch).toContainEqual({ op: 'add', path: '/template_version', value: 1 });
    expect(ofType('source.updated').patch).toEqual([
      { op: 'test', path: '/source_config/count', value: 10 },
      { op: 'replace', path: '/source_config/count', value: 20 },
    ]);
    expect(ofType('workspace.deactivated')).toMatchObject({
      actor: { kind: 'operator', id: null },
      address: null,
      user_agent: null,
      request_id: null,
      patch: null,
    });
    for (const hidden of ['203.0.113.7', 'shop/1.0', 'Theirs', secret, 'operator_token']) {
      expect(own.text).not.toContain(hidden);
    }
    expect((await test.request('GET', path, { token: acme.token })).status).toBe(401);
    expect(
      (await read(`workspace_id=${other.workspaceId}`)).every(
        (one: { workspace_id: string }) => one.workspace_id === other.workspaceId,
      ),
    ).toBe(true);
    const tenant = await addTenant(test, 'another');
    expect(JSON.stringify(await read('', tenant.token))).not.toContain(acme.workspaceId);
    expect(await read(`workspace_id=${acme.workspaceId}`, tenant.token)).toEqual([]);
  });

  it('is exported, verified offline with a checkpoint that was kept, and erased without breaking the chain', async () => {
    await test.app.workers.sequencer.pass();
    const cli = (...args: string[]) =>
      runCommand(['audit', ...args, '--organization', test.organizationId], { env: test.env });
    const signed = await cli('checkpoint');
    expect(signed.stdout, signed.stderr).toContain('"signature"');
    await test.app.workers.sequencer.pass();
    const published = await test.request('GET', '/.well-known/inlay/audit-checkpoints', { token: null });
    expect(published.body.checkpoints[0]).toEqual(JSON.parse(signed.stdout));
    expect(published.text).not.toContain('"d"');
    const [file, kept] = [join(test.dataDir, 'export.jsonl'), join(test.dataDir, 'kept.json')];
    writeFileSync(kept, published.text);

    const exported = await test.request('GET', `${path}/export`);
    expect(exported.headers['content-type']).toContain('application/jsonl');
    writeFileSync(file, exported.text);
    const offline = await cli('verify', file, '--checkpoint', kept);
    expect(offline, offline.stdout + offline.stderr).toMatchObject({ code: 0 });
    const lines = exported.text.trim().split('\n');
    writeFileSync(file, lines.with(4, String(lines[4]).replace('"done"', '"refused"')).join('\n'));
    const flipped = await cli('verify', file, '--checkpoint', kept);
    expect(flipped.code).toBe(exitCodes.findings[0]);
    expect(flipped.stdout).toContain(`position 5  ${JSON.parse(String(lines[4])).id}`);
    writeFileSync(file, lines.slice(0, 3).join('\n'));
    expect((await cli('verify', file, '--checkpoint', kept)).stdout).toContain('missing at the end');

    const csv = await test.request('GET', `${path}/export?format=csv`);
    expect(csv.text.split('\r\n')[0]).toContain('position,timestamp,type,outcome,actor_kind');
    const { status, body } = await test.request('POST', `${path}/erase`, { body: { address: '203.0.113.7' } });
    expect(status).toBe(200);
    expect(body.erased).toBeGreaterThan(2);
    expect((await test.request('POST', `${path}/erase`, { body: {} })).status).toBe(422);
    const entries = await read('types=audit.*');
    expect(entries.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining([
        'audit.key_created',
        'audit.checkpoint',
        'audit.exported',
        'audit.exported',
        'audit.erased',
      ]),
    );
    expect(JSON.stringify(await read())).not.toContain('203.0.113.7');
    const online = await cli('verify', '--checkpoint', kept);
    expect(online, online.stdout + online.stderr).toMatchObject({ code: 0 });
    expect(online.stdout).toContain('personal values were erased');
    expect(online.stdout).toMatch(/^Verified \d+ entries, .* \d+\.\nSigned checkpoints cover/);
    const output = join(test.dataDir, 'by-command.jsonl');
    expect((await cli('export', '--output', output)).code).toBe(0);
    expect((await cli('verify', output, '--checkpoint', kept)).code).toBe(0);
  });

  it('keeps its evidence from the role `operator`: no erasure, and no change to the endpoint that keeps checkpoints', async () => {
    const { body: operator } = await test.request('POST', '/api/v1/operator-tokens', {
      body: { name: 'insider', permission: 'operator' },
    });
    const { token } = operator;
    const acted = await test.request('POST', '/api/v1/integrations/templates/tags', {
      ...{ token, body: { name: 'insiders' }, headers: { ...viaProxy, 'x-forwarded-for': '203.0.113.99' } },
    });
    expect(acted.status, acted.text).toBe(201);
    const { body: endpoint } = await test.request('POST', '/api/v1/webhook-endpoints', {
      body: { url: 'https://keeper.example/hook', types: ['audit.checkpoint'] },
    });
    const one = `/api/v1/webhook-endpoints/${endpoint.id}`;
    const attempts = [
      ['POST', `${path}/erase`, { actor_id: operator.id }],
      ['POST', `${path}/erase`, { address: '203.0.113.99', fields: ['address', 'user_agent', 'patch'] }],
      ['DELETE', one, undefined],
      ['PATCH', one, { enabled: false }],
      ['PATCH', one, { url: 'https://elsewhere.example/hook' }],
      ['PATCH', one, { types: ['sync.failed'] }],
      ['PATCH', one, { workspace_ids: [] }],
      ['POST', `${one}/rotate-secret`, {}],
    ] as const;
    for (const [method, url, body] of attempts) {
      const answer = await test.request(method, url, { token, ...(body && { body }) });
      expect([answer.status, answer.headers['x-inlay-error']], `${method} ${url}`).toEqual([403, 'forbidden']);
    }
    const [entry] = (await read('types=tag.created')).slice(-1);
    expect(entry).toMatchObject({ actor: { name: 'insider' }, address: '203.0.113.99' });
    expect((await test.request('GET', one)).body).toMatchObject({ enabled: true, types: ['audit.checkpoint'] });
    const { data } = (await read('outcome=refused')).findLast(
      ({ actor }: AuditEvent) => actor.name === 'insider',
    ) as AuditEvent;
    expect(data, 'the attempt is evidence as well').toMatchObject({ reason: 'permission' });
    expect((await test.request('POST', `${path}/erase`, { body: { address: '203.0.113.99' } })).status).toBe(200);
    expect((await test.request('DELETE', one)).status).toBe(200);
  });

  it('says in words what is wrong with a trail that was changed, and ends with the code for findings', async () => {
    await test.app.workers.sequencer.pass();
    const cli = (...args: string[]) =>
      runCommand(['audit', ...args, '--organization', test.organizationId], { env: test.env });
    const { db } = test.app.store;
    const [key] = await db.selectFrom('audit_keys').selectAll().execute();
    await db
      .updateTable('audit_keys')
      .set({ created_at: Number(key?.created_at) + 1 })
      .execute();
    const found = await cli('verify');
    await db
      .updateTable('audit_keys')
      .set({ created_at: Number(key?.created_at) })
      .execute();
    expect(found.code).toBe(exitCodes.findings[0]);
    expect(found.stdout).toMatch(new RegExp(`^trail {2}${key?.kid} {2}.*not match`, 'm'));
    expect(found.stdout).toMatch(/Verification failed: \d+ problems in \d+ entries\.\n$/);
    expect((await cli('verify')).code).toBe(0);

    const [file, empty] = [join(test.dataDir, 'alone.jsonl'), join(test.dataDir, 'empty.jsonl')];
    writeFileSync(file, (await test.request('GET', `${path}/export`)).text);
    writeFileSync(empty, '');
    const alone = await cli('verify', file);
    expect(alone, alone.stdout).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('from the file itself'),
    });
    expect(await cli('verify', empty)).toMatchObject({
      code: exitCodes.findings[0],
      stdout: expect.stringContaining('no entries'),
    });
  });
});
