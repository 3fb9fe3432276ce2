/**
 * Puts every schema with a title, and every answer with a single error, under its name into `components`. All other
 * places in the document refer to it, so that a generated client has one type of that name. Only the document has
 * references: the validators and serializers of the service get whole schemas.
 */
import { endpointsOf, type OpenApiDocument, type ResponseObject } from './document.ts';
import type { Schema } from './schema-words.ts';

const schemaPlace = '#/components/schemas/';
const responsePlace = '#/components/responses/';

/** "Workspace page" → WorkspacePage, "rate_limited" → RateLimited */
export function componentName(words: string): string {
  return words.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase());
}

export function referToComponents(document: OpenApiDocument): OpenApiDocument {
  const schemas: Record<string, Schema> = { ...document.components?.schemas };
  const responses: Record<string, ResponseObject> = {};

  function referToSchema(schema: Schema): Schema {
    const whole = mapParts(schema, referToSchema);
    if (whole.title === undefined) return whole;
    // The description and the examples of a schema stay where the schema is used.
    const { description, examples: _, ...body } = whole;
    const name = componentName(whole.title);
    const known = schemas[name];
    if (known !== undefined && !isSame(known, body)) {
      throw new Error(`Two schemas are called ${name}. Give one of them another title.`);
    }
    schemas[name] = body;
    return { $ref: schemaPlace + name, ...(description === undefined ? {} : { description }) };
  }

  function referToResponse(response: ResponseObject): ResponseObject {
    const examples = Object.keys(response.content?.['application/json']?.examples ?? {});
    const [code] = examples;
    // The faults of a request differ from endpoint to endpoint.
    if (code === undefined || examples.length > 1 || code === 'invalid_request') return response;
    const name = componentName(code);
    const known = responses[name];
    if (known !== undefined && !isSame(known, response)) return response;
    responses[name] = response;
    return { $ref: responsePlace + name };
  }

  const paths = mapDocument(document, referToSchema, referToResponse);
  const components = { ...document.components, schemas: byName(schemas), responses: byName(responses) };
  return { ...document, paths, components };
}

/** The opposite, for code that reads whole schemas: each reference is replaced by its schema. */
export function inlineComponents(document: OpenApiDocument): OpenApiDocument {
  const { schemas = {}, responses = {} } = document.components ?? {};

  function inlineSchema({ $ref, ...rest }: Schema): Schema {
    if ($ref === undefined) return mapParts(rest, inlineSchema);
    return { ...inlineSchema(componentAt(schemas, schemaPlace, $ref)), ...rest };
  }
  const inlineResponse = (response: ResponseObject): ResponseObject =>
    response.$ref === undefined ? response : componentAt(responses, responsePlace, response.$ref);

  // Answers first, because they contain schemas.
  const paths = mapDocument(document, (schema) => schema, inlineResponse);
  return { ...document, paths: mapDocument({ ...document, paths }, inlineSchema, (response) => response) };
}

function componentAt<T>(components: Record<string, T>, place: string, reference: string): T {
  const found = components[reference.slice(place.length)];
  if (found === undefined) throw new Error(`The document refers to ${reference}, which it does not have.`);
  return found;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function byName<T>(components: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(components).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function mapDocument(
  document: OpenApiDocument,
  mapSchema: (schema: Schema) => Schema,
  mapResponse: (response: ResponseObject) => ResponseObject,
): OpenApiDocument['paths'] {
  const inMedia = <T extends { schema?: Schema }>(media: T): T =>
    media.schema ? { ...media, schema: mapSchema(media.schema) } : media;
  const inContent = <T extends { content?: Record<string, { schema?: Schema }> }>(holder: T): T =>
    holder.content ? { ...holder, content: mapValues(holder.content, inMedia) } : holder;

  const paths: OpenApiDocument['paths'] = {};
  for (const { path, method, ...operation } of endpointsOf(document)) {
    const { parameters, requestBody, responses } = operation;
    paths[path] = {
      ...paths[path],
      [method]: {
        ...operation,
        ...(parameters ? { parameters: parameters.map(inMedia) } : {}),
        ...(requestBody ? { requestBody: inContent(requestBody) } : {}),
        responses: mapValues(responses, (response) => mapResponse(inContent(response))),
      },
    };
  }
  return paths;
}

/** Maps every schema that is directly inside this schema. */
function mapParts(schema: Schema, map: (schema: Schema) => Schema): Schema {
  const { properties, items, patternProperties, additionalProperties, anyOf, oneOf, else: otherwise } = schema;
  return {
    ...schema,
    ...(properties ? { properties: mapValues(properties, map) } : {}),
    ...(items ? { items: map(items) } : {}),
    ...(patternProperties ? { patternProperties: mapValues(patternProperties, map) } : {}),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: map(additionalProperties) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(map) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(map) } : {}),
    ...(otherwise ? { else: map(otherwise) } : {}),
  };
}

function mapValues<T, U>(record: Record<string, T>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
