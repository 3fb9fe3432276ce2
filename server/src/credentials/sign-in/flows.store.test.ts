/** The rows of sign-ins: who finds them, and which of several that want to change one succeeds. */

import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { connect, makePlace, type Place, replicaOf } from '../../../test/support/credentials.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { ModelProvider } from '../../../test/support/model-provider.ts';
import { seedPipelines } from '../../../test/support/seed-pipelines.ts';
import { openTestStore } from '../../../test/support/test-store.ts';
import { createHousekeeping } from '../../edge/housekeeping.worker.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { OAuthFlowRow } from '../../kernel/db/tables.ts';
import type { OAuthContext } from '../context.ts';
import * as flows from './flows.store.ts';
import { credentialOfSource } from './flows.ts';
import { listOverdue } from './flows.worker.store.ts';
import { createSignInHousekeeping } from './flows.worker.ts';

const minuteMs = 60_000;

describeOnBothDatabases('Sign-ins in the store', (kind) => {
  let store: Store;
  let ctx: OAuthContext;
  let place: Place;
  beforeEach(async () => {
    store = await openTestStore(kind);
    ctx = replicaOf(store, { network: new ModelProvider({ now: Date.now }).network() });
    place = await makePlace(ctx);
  });

  async function begin(options: { lifeMs?: number; isLink?: boolean } = {}): Promise<OAuthFlowRow> {
    const { organizationId, workspaceId, oauthClientId } = place;
    const flow = {
      ...{ id: randomUUID(), oauth_client_id: oauthClientId, source_template_id: randomUUID(), source_id: null },
      ...{ token_id: options.isLink ? null : 'a token', origin: 'https://app.example', is_framed: 1 },
      ...{ customer_label: 'Acme & Söhne', return_to: null, start_hash: randomUUID() },
      ...{ scopes: '["read"]', provider_values: '{}' },
    };
    return await flows.insertFlow(store.db, organizationId, workspaceId, flow, { lifeMs: 10 * minuteMs, ...options });
  }
  const startedBy = (browser: string): flows.Started => ({
    ...{ state_hash: randomUUID(), cookie_hash: browser, sealed_secrets: 'sealed', issuer: null },
  });
  const start = (flow: OAuthFlowRow, browser = 'a browser') =>
    flows.startFlow(store.db, place.organizationId, flow.id, startedBy(browser), 10 * minuteMs);
  const take = (flow: OAuthFlowRow | undefined, stateHash = flow?.state_hash ?? '') =>
    flows.takeFlow(store.db, place.organizationId, flow?.id ?? '', stateHash, 2 * minuteMs);
  const change = (flow: OAuthFlowRow, values: Partial<OAuthFlowRow>) =>
    store.db.updateTable('oauth_flows').set(values).where('id', '=', flow.id).execute();
  const find = (flow: OAuthFlowRow) => flows.findFlow(store.db, place.organizationId, place.workspaceId, flow.id);

  it('are found by what only the right one knows, and never by another tenant', async () => {
    const before = await store.now();
    const flow = await begin();
    const after = await store.now();
    const { id, start_hash } = flow;
    expect(flow).toMatchObject({ state: 'created', customer_label: 'Acme & Söhne', link_until: null, is_test: 0 });
    expect(flow.expires_at).toBeGreaterThanOrEqual(before + 10 * minuteMs);
    expect(flow.expires_at).toBeLessThanOrEqual(after + 10 * minuteMs);
    expect(await find(flow)).toEqual(flow);
    const { organizationId, workspaceId } = place;
    expect(await flows.findFlow(store.db, randomUUID(), workspaceId, id)).toBeUndefined();
    expect(await flows.findFlow(store.db, organizationId, randomUUID(), id)).toBeUndefined();
    expect(await flows.findFlowByStart(store.db, start_hash)).toEqual(flow);
    expect(await flows.findFlowByStart(store.db, 'another')).toBeUndefined();
    // Not started yet: there is neither a state nor a cookie that could be guessed.
    expect(await flows.findFlowByState(store.db, '')).toBeUndefined();
    expect(await flows.findFlowByCookie(store.db, id, '')).toBeUndefined();
    const started = await start(flow);
    expect(await flows.findFlowByState(store.db, started?.state_hash ?? '')).toEqual(started);
    expect(await flows.findFlowByCookie(store.db, id, 'a browser')).toEqual(started);
    expect(await flows.findFlowByCookie(store.db, id, 'another browser')).toBeUndefined();
    expect(await flows.findFlowByCookie(store.db, randomUUID(), 'a browser')).toBeUndefined();
    // A path of a page may hold anything.
    expect(await flows.findFlowByCookie(store.db, 'no id', 'a browser')).toBeUndefined();
  });

  it('whose process has died in the middle of the exchange are ended, whatever state their secrets are in', async () => {
    const [unreadable, other] = [await begin(), await begin()];
    for (const flow of [unreadable, other]) {
      await take(await start(flow));
      await change(flow, { expires_at: Date.now() - 1_000 });
    }
    await change(other, { sealed_secrets: '' });
    await createSignInHousekeeping(ctx)();
    for (const flow of [unreadable, other]) {
      expect(await find(flow)).toMatchObject({ state: 'failed', failure: 'expired', sealed_secrets: '' });
    }
  });

  it('are counted while they are under way; links are not', async () => {
    const count = () => flows.countOpenFlows(store.db, place.organizationId, place.workspaceId);
    await begin({ isLink: true });
    const [one, other] = [await begin(), await begin()];
    await start(one);
    expect(await count()).toBe(2);
    await change(other, { expires_at: 1 });
    expect(await count()).toBe(1);
    await flows.endFlow(store.db, place.organizationId, one.id, 'started', { state: 'failed', failure: 'denied' });
    expect(await count()).toBe(0);
  });

  it('are started by one browser, which may go back and start again', async () => {
    const flow = await begin();
    const browsers = ['one', 'two', 'three', 'four'];
    const all = await Promise.all(browsers.map((browser) => start(flow, browser)));
    const winners = all.filter((one) => one !== undefined);
    expect(winners).toHaveLength(1);
    const [winner] = winners as [OAuthFlowRow];
    for (const browser of browsers) {
      expect((await start(flow, browser)) !== undefined, browser).toBe(browser === winner.cookie_hash);
    }
    expect(await take(winner), 'the state of before').toBeUndefined();
    expect(await flows.startFlow(store.db, randomUUID(), flow.id, startedBy('one'), minuteMs)).toBeUndefined();
    const late = await begin();
    await change(late, { expires_at: 1 });
    expect(await start(late)).toBeUndefined();
  });

  it('by link are started by any browser, again after a failure, and never after their end', async () => {
    const link = await begin({ isLink: true });
    expect(await start(link, 'a phone')).toBeDefined();
    expect(await start(link, 'a desk')).toMatchObject({ cookie_hash: 'a desk' });
    // The time that a sign-in has is over, and that of the link is not.
    await change(link, { expires_at: 1 });
    await flows.endFlow(store.db, place.organizationId, link.id, 'started', {
      ...{ state: 'failed', failure: 'scopes_missing', missing_scopes: '["deals"]', account_label: 'ada' },
    });
    expect(await start(link)).toMatchObject({
      ...{ state: 'started', failure: null, missing_scopes: '[]', account_label: null, ended_at: null },
    });
    await change(link, { link_until: 1 });
    expect(await start(link)).toBeUndefined();
    await change(link, { link_until: Date.now() + minuteMs, state: 'connected' });
    expect(await start(link)).toBeUndefined();
  });

  it('are taken once, in time, with their own state, and then have as long as the provider may take', async () => {
    const flow = await start(await begin());
    expect(await take(flow, 'another state')).toBeUndefined();
    const all = await Promise.all([take(flow), take(flow), take(flow)]);
    const [taken, ...others] = all.filter((one) => one !== undefined);
    expect(others).toEqual([]);
    expect(taken).toMatchObject({ state: 'exchanging', sealed_secrets: 'sealed' });
    const left = (taken?.expires_at ?? 0) - (await store.now());
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(2 * minuteMs);
    const late = (await start(await begin())) as OAuthFlowRow;
    await change(late, { expires_at: 1 });
    expect(await take(late)).toBeUndefined();
  });

  it('end once, from the state that was read, and keep no secret', async () => {
    const taken = (await take(await start(await begin()))) as OAuthFlowRow;
    const end = (from: OAuthFlowRow['state'], outcome: flows.Outcome) =>
      flows.endFlow(store.db, place.organizationId, taken.id, from, outcome);
    expect(await end('started', { state: 'failed', failure: 'denied' })).toBeUndefined();
    const asked = await end('exchanging', { state: 'unconfirmed', sealed_secrets: 'tokens', lifeMs: minuteMs });
    expect(asked).toMatchObject({ state: 'unconfirmed', sealed_secrets: 'tokens', ended_at: null });
    const all = await Promise.all([
      end('unconfirmed', { state: 'connected', account_label: 'ada' }),
      end('unconfirmed', { state: 'failed', failure: 'expired' }),
    ]);
    expect(all.filter((one) => one !== undefined)).toHaveLength(1);
    expect(await find(taken)).toMatchObject({ sealed_secrets: '', ended_at: expect.any(Number) });
  });

  it('Flows that took too long are listed, and those that ended long ago are forgotten, except links that still work', async () => {
    const [open, late, link, used] = [await begin(), await begin(), await begin({ isLink: true }), await begin()];
    await change(late, { expires_at: 1 });
    expect((await listOverdue(store.db, 10)).map(({ id }) => id)).toEqual([late.id]);
    for (const one of [late, link, used]) await change(one, { state: 'failed', expires_at: 1, ended_at: 1 });
    expect(await listOverdue(store.db, 10)).toEqual([]);
    await change(used, { ended_at: Date.now() });
    await createHousekeeping(store, { jobsMs: 0, jobLogsMs: 0, deliveriesMs: 0 })();
    const left = await Promise.all([open, late, link, used].map(async (flow) => (await find(flow)) !== undefined));
    expect(left).toEqual([true, false, true, true]);
  });

  it('find what their source is connected with, until that has ended or another client is asked', async () => {
    const ref = await connect(ctx, place, { accessToken: 'access', accountLabel: 'ada' });
    const { seeded } = await seedPipelines(store, { ...place, workspaces: 1, jobsEach: 0 });
    const sourceId = seeded[0]?.sourceId ?? '';
    const { organizationId: organization_id, workspaceId: workspace_id, credentialId: credential_id } = ref;
    await store.db.updateTable('sources').set({ credential_id, workspace_id }).where('id', '=', sourceId).execute();
    const flow = { organization_id, workspace_id, source_id: sourceId, oauth_client_id: place.oauthClientId };
    const connectedWith = { id: credential_id, account_label: 'ada', state: 'connected' };
    expect(await credentialOfSource(ctx, flow)).toMatchObject(connectedWith);
    expect(await credentialOfSource(ctx, { ...flow, workspace_id: randomUUID() })).toBeUndefined();
    expect(await credentialOfSource(ctx, { ...flow, oauth_client_id: randomUUID() })).toBeUndefined();
    await store.db.updateTable('credentials').set({ state: 'ended' }).where('id', '=', credential_id).execute();
    expect(await credentialOfSource(ctx, flow)).toBeUndefined();
  });
});
