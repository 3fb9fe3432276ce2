/** One row of the table of operations (../operations.ts): all that a client may know of a request and its answers. */
import type { TSchema } from 'typebox';
import type { ErrorCode } from '../error-catalogue.ts';
import type { ResponseHeaderName } from '../response-headers.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type OperationPath = `/${string}`;

export interface Operation {
  /** Method and path, with parameters in braces as in OpenAPI. */
  route: `${Method} ${OperationPath}`;
  /**
   * public: anyone. operator: an operator token, and for anything but GET a token that may write. scoped: a scoped token
   * or the scoped token inside a widget token.
   */
  access: 'public' | 'operator' | 'scoped';
  tag: string;
  summary: string;
  description?: string;
  deprecated?: boolean;
  params?: TSchema;
  query?: TSchema | undefined;
  body?: TSchema;
  /** How a list continues: its `next` repeats a `cursor` or an `after` (a position), or the client counts with `offset`. */
  paging?: 'cursor' | 'position' | 'offset';
  /** How large a body may be, where it may be larger than elsewhere. */
  maxBodyBytes?: number;
  /** Whether a body of YAML is taken as well, as the member `manifest`. */
  takesYaml?: boolean;
  status?: 200 | 201;
  /**
   * Of a POST: whether it may be carried out again after a crash that lost its answer, because a second time changes
   * nothing more, or what it does guards itself.
   */
  isRepeatable?: boolean;
  /** For operators: it concerns secrets of the organization, or evidence of what was done, so it needs the permission `full`. */
  isAdministration?: boolean;
  answer: TSchema;
  /** The type of the answer's content, where it is not JSON. */
  answerType?: string;
  /** Headers of a success, beyond those that its access and schemas imply. */
  answerHeaders?: readonly ResponseHeaderName[];
  /** Errors that this operation can answer, beyond those that its access and schemas imply. */
  errors?: readonly ErrorCode[];
}

export function methodAndPath({ route }: Operation): { method: Method; path: string } {
  const [method, path] = route.split(' ') as [Method, string];
  return { method, path };
}
