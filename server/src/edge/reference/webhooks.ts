/** Webhook events for `webhooks` in the OpenAPI document, generated from the event catalogue. */
import { catalogue, type EntryType, eventTypes } from '../../log/events/catalogue.ts';
import { exampleOf, type Schema } from './schema-words.ts';

const exampleWorkspace = { id: '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11', name: 'acme-inc' };

const workspaceSchema: Schema = {
  type: 'object',
  required: ['id', 'name'],
  description: 'The workspace concerned, with its name at the time.',
  properties: { id: { type: 'string', format: 'uuid' }, name: { type: 'string' } },
  examples: [exampleWorkspace],
};

/** By type. */
export function webhooksOf(): Record<string, object> {
  return Object.fromEntries(
    eventTypes.map((type) => {
      const schema = bodySchema(type);
      return [
        type,
        {
          post: {
            summary: catalogue[type].when,
            tags: ['Events'],
            requestBody: {
              required: true,
              content: { 'application/json': { schema, example: exampleOf(schema) } },
            },
            responses: { '2XX': { description: 'The event was received.' } },
          },
        },
      ];
    }),
  );
}

function bodySchema(type: EntryType): Schema {
  return {
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { type: 'string', enum: [type], examples: [type] },
      timestamp: { type: 'string', format: 'date-time', examples: ['2026-01-31T09:30:00.000Z'] },
      data: dataSchema(type),
    },
  };
}

/** Schema of an event's `data`, with the workspace that every event about a workspace contains. */
export function dataSchema(type: EntryType): Schema {
  const { data, ofWorkspace } = catalogue[type];
  const { properties = {}, required = [] } = withoutTitles(data as Schema);
  return {
    type: 'object',
    required: [...(ofWorkspace === true ? ['workspace'] : []), ...required],
    properties: { ...(ofWorkspace !== false && { workspace: workspaceSchema }), ...properties },
  };
}

/** Only response schemas have titles, because generated clients use these as type names. */
function withoutTitles<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (typeof value !== 'object' || value === null || typeof value.title !== 'string') return value;
    const { title: _, ...rest } = value;
    return rest;
  });
}
