/**
 * The types of requests and answers, taken from the table of operations. Browsers import them with `import type`: the
 * schemas of the table stay out of their bundles.
 */
import type { Static, TSchema } from 'typebox';
import type { Operation } from './operations/operation.ts';
import type { operations } from './operations.ts';

type Groups = typeof operations;
type EachOperation = { [Name in keyof Groups]: Groups[Name][keyof Groups[Name]] }[keyof Groups];

type ByRoute = {
  [O in EachOperation as O extends { route: `${infer Method} /api/v1${infer Path}` } ? `${Method} ${Path}` : never]: O;
};

/** A method and a path below `/api/v1`, such as `GET /workspaces/{workspace_id}`. */
export type Route = keyof ByRoute;
/** The routes that take this kind of token. */
export type RouteFor<A extends Operation['access']> = {
  [R in Route]: ByRoute[R]['access'] extends A ? R : never;
}[Route];

export type AnswerTo<R extends Route> = Static<ByRoute[R]['answer']>;

/** One id for each path parameter, in order. */
type Ids<Path> = Path extends `${string}{${string}}${infer Rest}` ? [id: string | number, ...Ids<Rest>] : [];

// biome-ignore lint/complexity/noBannedTypes: whether an object without members is enough
type MayBeEmpty<T> = {} extends T ? true : false;
/** Undefined members are not sent. */
type Members<T> = { [Name in keyof T]: T[Name] | undefined };
/** A filter accepts any text, because it comes from a page's URL and the service validates it. */
type Filters<T> = { [Name in keyof T]: (T[Name] extends string | undefined ? string : T[Name]) | undefined };
type Body<O> = O extends { readonly body: infer S extends TSchema }
  ? { body: Members<Static<S>> }
  : { body?: undefined };
type Query<O> = O extends { readonly query: infer S extends TSchema }
  ? MayBeEmpty<Static<S>> extends true
    ? { query?: Filters<Static<S>> }
    : { query: Filters<Static<S>> }
  : { query?: undefined };

/** The parts of a request to the route. */
export type PartsOf<R extends Route> = R extends Route
  ? (Ids<R> extends [] ? { ids?: undefined } : { ids: Ids<R> }) & Query<ByRoute[R]> & Body<ByRoute[R]>
  : never;

/** The parameter for the parts, optional where none is required. */
export type Given<Parts> = MayBeEmpty<Parts> extends true ? [parts?: Parts] : [parts: Parts];
