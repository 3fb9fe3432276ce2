/**
 * One row of the table of operations (../operations.ts): everything a client may know about a request and its
 * responses.
 */
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
  /** How a list is paginated: `next` contains a `cursor` or an `after` position, or the client counts with `offset`. */
  paging?: 'cursor' | 'position' | 'offset';
  /** Maximum body size, where it exceeds the default. */
  maxBodyBytes?: number;
  /** Whether YAML bodies are accepted, too, as the field `manifest`. */
  takesYaml?: boolean;
  status?: 200 | 201;
  /** Whether a POST may be repeated after a crash that lost its response, because it is idempotent or guards itself. */
  isRepeatable?: boolean;
  /** For operators: requires permission `full`, because it concerns secrets of the organization or evidence. */
  isAdministration?: boolean;
  answer: TSchema;
  /** Content type of the response, if not JSON. */
  answerType?: string;
  /** Headers of a successful response, beyond those that its access and schemas imply. */
  answerHeaders?: readonly ResponseHeaderName[];
  /** Errors of this operation, beyond those that its access and schemas imply. */
  errors?: readonly ErrorCode[];
}

export function methodAndPath({ route }: Operation): { method: Method; path: string } {
  const [method, path] = route.split(' ') as [Method, string];
  return { method, path };
}
