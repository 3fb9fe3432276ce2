/** What the types of requests refuse. `tsc` checks it: a line that is marked and compiles is an error. */
import { expect, it } from 'vitest';
import type { AnswerTo, Given, PartsOf, Route, RouteFor } from './requests.ts';

function requestTo<R extends Route>(route: R, ...parts: Given<PartsOf<R>>): AnswerTo<R> {
  return { route, parts } as AnswerTo<R>;
}

it('requests that the table of operations has compile, and others do not', () => {
  const made = [
    requestTo('GET /integrations/overview'),
    requestTo('GET /integrations/overview', { query: { limit: 10 } }),
    requestTo('GET /integrations/jobs/{job_id}', { ids: ['1'] }),
    requestTo('PUT /workspaces/{workspace_id}', { ids: ['1'], body: { status: 'active' } }),
    requestTo('GET /integrations/sources/{source_id}', { ids: ['1'], query: { workspace_id: '2' } }),
    // @ts-expect-error there is no such path
    requestTo('GET /integrations/overviews'),
    // @ts-expect-error the path has no such method
    requestTo('POST /integrations/overview'),
    // @ts-expect-error the id is missing
    requestTo('GET /integrations/jobs/{job_id}'),
    // @ts-expect-error there is one id too many
    requestTo('GET /integrations/jobs/{job_id}', { ids: ['1', '2'] }),
    // @ts-expect-error the query has no such parameter
    requestTo('GET /integrations/overview', { query: { limits: 10 } }),
    // @ts-expect-error a required parameter of the query is missing
    requestTo('GET /integrations/sources/{source_id}', { ids: ['1'] }),
    // @ts-expect-error the body is missing
    requestTo('POST /operator-tokens'),
    // @ts-expect-error a field of the body has another type
    requestTo('POST /operator-tokens', { body: { name: 1 } }),
    // @ts-expect-error a customer's token cannot do this
    'GET /operator-tokens' satisfies RouteFor<'scoped'>,
  ];
  expect(made).toHaveLength(14);
});

it('an answer has the type that the operation has', () => {
  const overview = requestTo('GET /integrations/workspaces');
  const named = () => overview.data[0]?.name satisfies string | undefined;
  // @ts-expect-error a workspace has no such field
  const unnamed = () => overview.data[0]?.title;
  expect([named, unnamed]).toHaveLength(2);
});
