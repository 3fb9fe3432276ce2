/** Tokens with a valid signature and wrong claims: our own key signed them, but the service would never issue them. */
import type { KeyObject } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { createScopedTokens } from '../../src/tenancy/tokens/scoped-tokens.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';
import { addTenant, expectSame401, infoPath, keysOf, logOfTest, readToken, signToken, unknownId } from './support.ts';

type Fields = Record<string, unknown>;

describeOnOneDatabase('A token that our own key signed', (kind) => {
  let test: TestApp;
  let good: string;
  let header: Fields;
  let claims: Fields;
  let privateKey: KeyObject;

  beforeAll(async () => {
    test = await startTestApp(kind);
    good = await test.scopedToken('acme');
    ({ header, claims } = readToken(good));
    privateKey = (await keysOf(test)).current().privateKey;
  });
  afterAll(() => test.stop());

  const call = (token: string) => test.request('GET', infoPath, { token });
  const now = () => Math.floor(Date.now() / 1000);
  const signed = (changes: Fields) => signToken(header, { ...claims, ...changes }, privateKey);
  async function expectAll401(tokens: string[]): Promise<void> {
    expect((await call(good)).status).toBe(200);
    for (const token of tokens) expectSame401(await call(token));
  }

  it('is refused when it has expired, is not valid yet, or has times in a wrong form', async () => {
    const at = now();
    const times: Fields[] = [
      { exp: at - 31 },
      { exp: 1 },
      { exp: 0 },
      { exp: -1 },
      { nbf: at + 60 },
      { iat: at + 60 },
      { iat: undefined },
      ...[String(at + 999), at + 999.5, 1e20, 1e12, null, true, [at + 999], {}].map((exp) => ({ exp })),
      ...[String(at), at - 0.5, 1e20, 0, null].map((iat) => ({ iat })),
      ...[String(at), null, 1e300].map((nbf) => ({ nbf })),
    ];
    await expectAll401(times.map((change) => signed(change)));
    const huge = JSON.stringify(claims).replace(/"iat":\d+/, '"iat":1,"exp":1e400');
    await expectAll401([signToken(header, huge, privateKey)]);
    expect((await call(signed({ exp: at + 60 }))).status).toBe(200);
    expect((await call(signed({ iat: at + 20 }))).status, 'clocks may disagree by 30 s').toBe(200);
  });

  it('is refused for another issuer or audience, also when ours is one of several', async () => {
    const iss = ['http://localhost:8081', `${claims.iss}/`, '', null, undefined, [claims.iss], 'https://evil.example'];
    const aud = [
      'other',
      'INLAY',
      '',
      null,
      undefined,
      ['inlay'],
      ['other', 'inlay'],
      ['inlay', 'inlay'],
      { inlay: 1 },
    ];
    await expectAll401([...iss.map((value) => signed({ iss: value })), ...aud.map((value) => signed({ aud: value }))]);
    const { store } = test.app;
    const { journal } = logOfTest;
    const options = {
      store,
      keys: await keysOf(test),
      runtime: systemRuntime,
      journal,
      ttlSeconds: undefined,
      viewerWorks: async () => true,
    };
    const subject = { organizationId: test.organizationId, workspaceId: String(claims.sub), tokenGeneration: 1 };
    const elsewhere = createScopedTokens({ ...options, issuer: 'https://other.example', vendor: 'inlay' });
    const otherVendor = createScopedTokens({ ...options, issuer: String(claims.iss), vendor: 'other' });
    await expectAll401([elsewhere.issue(subject).token, otherVendor.issue(subject).token]);
  });

  it('is refused when its claims contradict each other or name what does not exist', async () => {
    const other = await addTenant(test, 'other');
    const scope = Object.keys(claims).find((name) => name.endsWith('workspace_scope')) ?? '';
    const both = (workspaceId: unknown, organizationId: unknown) => ({
      sub: workspaceId,
      org: organizationId,
      [scope]: { workspaceId, organizationId },
    });
    const globex = await test.workspaceId('globex');
    await expectAll401(
      [
        { sub: globex },
        { org: other.organizationId },
        { [scope]: undefined },
        { [scope]: String(claims.sub) },
        { [scope]: { workspaceId: globex, organizationId: test.organizationId } },
        both(unknownId, test.organizationId),
        both(claims.sub, other.organizationId),
        both(undefined, undefined),
        ...['1', '0.x', '-1.AAAAAAAAAAAAAAAAAAAAAA', '1.AAAA', `${claims.jti}\0`, 1, null].map((jti) => ({ jti })),
      ].map((change) => signed(change)),
    );
  });

  it('is refused, without a failure, when its ids are no UUIDs', async () => {
    const scope = Object.keys(claims).find((name) => name.endsWith('workspace_scope')) ?? '';
    for (const id of ['x', '', "' or 1=1 --", '\0', '\ud800']) {
      const organizationId = test.organizationId;
      expectSame401(await call(signed({ sub: id, [scope]: { workspaceId: id, organizationId } })));
    }
  });
});
