/**
 * The parts of an OpenAPI 3.1 document that the reference reads, and what it adds to the document made from the routes:
 * operation ids, whether a body may be left out, and an example for every body and answer that has none.
 */
import { exampleOf, type Schema } from './schema-words.ts';

export interface OpenApiDocument {
  info: { title: string; version: string; description?: string };
  servers?: { url: string }[];
  tags?: { name: string; description?: string }[];
  paths: Record<string, Partial<Record<Method, Operation>>>;
  components?: {
    schemas?: Record<string, Schema>;
    responses?: Record<string, ResponseObject>;
    headers?: Record<string, HeaderObject>;
    securitySchemes?: object;
  };
}

export interface ResponseObject {
  $ref?: string;
  description?: string;
  headers?: Record<string, HeaderObject>;
  content?: Content;
}

interface HeaderObject {
  $ref?: string;
  description?: string;
  schema?: Schema;
  example?: unknown;
}

export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof methods)[number];

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  deprecated?: boolean;
  tags?: string[];
  /** The kinds of token by name, each with the permissions that the token must have. */
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, ResponseObject>;
}

export interface Parameter extends Media {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
}

export interface Media {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { summary?: string; value?: unknown }>;
}

type Content = Record<string, Media>;

/** An operation with its path, its method and a unique name. */
export interface Endpoint extends Operation {
  path: string;
  method: Method;
  operationId: string;
}

export function endpointsOf(document: OpenApiDocument): Endpoint[] {
  const taken = new Set<string>();
  const nameFor = (operation: Operation, fallback: string) => {
    const name = operation.operationId ?? operationIdOf(operation.summary ?? fallback);
    let free = name;
    for (let count = 2; taken.has(free); count++) free = name + count;
    taken.add(free);
    return free;
  };
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    methods.flatMap((method) => {
      const operation = operations[method];
      if (!operation) return [];
      return [{ ...operation, path, method, operationId: nameFor(operation, `${method} ${path}`) }];
    }),
  );
}

export function completeDocument(document: OpenApiDocument): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const { path, method, ...operation } of endpointsOf(document)) {
    const { requestBody } = operation;
    if (requestBody) {
      requestBody.content = withExamples(requestBody.content);
      const schema = mediaOf(requestBody)?.schema;
      requestBody.required = [schema, schema?.else].some((part) => (part?.required ?? []).length > 0);
    }
    for (const response of Object.values(operation.responses)) {
      if (response.content) response.content = withExamples(response.content);
      if (response.headers) response.headers = referToHeaders(response.headers);
    }
    paths[path] = { ...paths[path], [method]: operation };
  }
  return { ...document, paths };
}

/** Each is described once, in `components.headers`. */
function referToHeaders(headers: Record<string, HeaderObject>): Record<string, HeaderObject> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function withExamples(content: Content): Content {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => {
      const example = firstExample(media);
      return [type, media.examples ? media : { ...media, example }];
    }),
  );
}

/** The content of a body or an answer; the first, if there are several types of content. */
export function mediaOf(holder: { content?: Content } | undefined): Media | undefined {
  return Object.values(holder?.content ?? {})[0];
}

export function firstExample({ example, examples, schema }: Media): unknown {
  return example ?? Object.values(examples ?? {})[0]?.value ?? (schema && exampleOf(schema));
}

/** "Revoke all tokens of a workspace" → revokeAllTokensOfWorkspace */
function operationIdOf(summary: string): string {
  const words = summary.split(/[^A-Za-z0-9]+/).filter((word) => word && !/^(an?|the)$/i.test(word));
  return words
    .map((word, index) => (index === 0 ? word.toLowerCase() : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
}
