/** Counts of refused requests, where the store is away when they are to be written. */
import { expect, it } from 'vitest';
import { byCommandLine } from '../../kernel/cause.ts';
import { createRefusals, type RefusedRequest } from './refusals.ts';

it('are kept until they can be written, with what was refused meanwhile', async () => {
  let isAway = false;
  let meanwhile = () => {};
  const written: { type: string; data: { count: number } }[] = [];
  const journal = {
    by: () => journal,
    record: async (_tx: unknown, _organizationId: string, entry: (typeof written)[number]) => void written.push(entry),
  };
  const transaction = async (work: (tx: unknown) => Promise<void>) => {
    meanwhile();
    if (isAway) throw new Error('The store is away.');
    await work(undefined);
  };
  const refusals = createRefusals({
    store: { transaction },
    journal,
    runtime: { now: () => 0 },
    firstOrganizationId: 'first',
    inBackground: (_what: string, work: () => Promise<unknown>) => void work(),
  } as never);
  const request = {
    principal: { kind: 'operator', organizationId: 'one', tokenId: 'token' },
    cause: byCommandLine,
    method: 'GET',
    route: '/secret',
    reason: 'forbidden',
  } as unknown as RefusedRequest;
  const refuse = () => {
    refusals.refused(request);
    for (let count = 0; count < 10; count++) refusals.badToken('192.0.2.1');
  };

  refuse();
  refuse();
  refuse();
  await expect.poll(() => written.splice(0).map(({ data }) => data.count)).toEqual([1]);

  isAway = true;
  meanwhile = () => {
    meanwhile = () => {};
    refuse();
  };
  await expect(refusals.flush()).rejects.toThrow('away');
  isAway = false;
  await refusals.flush();
  expect(written.splice(0).map(({ type, data }) => [type, data.count])).toEqual([
    ['request.refused', 3],
    ['token.refused', 40],
  ]);
  // The first of a kind is recorded at once again.
  await refusals.flush();
  refuse();
  await expect.poll(() => written.splice(0).map(({ data }) => data.count)).toEqual([1]);
});
