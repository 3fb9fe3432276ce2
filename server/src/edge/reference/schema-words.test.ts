import { describe, expect, it } from 'vitest';
import { curlCommand } from './example-request.ts';
import { describeSchema, exampleOf, fieldsOf, type Schema } from './schema-words.ts';

describe('A schema in words', () => {
  it.each<[Schema, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'string', format: 'uuid' }, 'UUID'],
    [{ type: 'string', minLength: 1, maxLength: 255 }, 'string, 1 to 255 characters'],
    [{ type: 'string', maxLength: 10_240 }, 'string, at most 10,240 characters'],
    [{ type: 'integer', minimum: 1, maximum: 100, default: 20 }, 'integer, 1 to 100, defaults to `20`'],
    [{ type: 'string', enum: ['any', 'all'], default: 'any' }, 'one of `any` (default), `all`'],
    [{ type: ['string', 'null'], format: 'date-time' }, 'timestamp (ISO 8601) or null'],
    [{ type: 'array', items: { type: 'string', format: 'uuid' }, maxItems: 3 }, 'array of UUIDs, at most 3 items'],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, 'integer or null'],
    [{ const: 'api', type: 'string' }, 'string, always `api`'],
    [{}, 'any value'],
  ])('%j', (schema, words) => expect(describeSchema(schema)).toBe(words));

  it('lists nested fields after the field that holds them', () => {
    const item: Schema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
    const page: Schema = { type: 'object', properties: { data: { type: 'array', items: item }, next: {} } };
    const names = fieldsOf(page).map(({ holder, name, required }) => [holder + name, required]);
    expect(names).toEqual([
      ['data', false],
      ['data[].id', true],
      ['next', false],
    ]);
  });

  it('makes an example out of those of its parts', () => {
    const schema: Schema = {
      type: 'object',
      properties: {
        name: { type: 'string', examples: ['acme'] },
        size: { type: 'integer', minimum: 3 },
        tags: { type: 'array', items: { enum: ['a', 'b'] } },
        gone_at: { type: ['string', 'null'] },
        more: { type: 'object', additionalProperties: { type: 'boolean' } },
      },
    };
    expect(exampleOf(schema)).toEqual({ name: 'acme', size: 3, tags: ['a'], gone_at: null, more: { '…': true } });
  });

  it('comes to an end when it contains itself', () => {
    const list: Schema = { type: 'object', properties: {} };
    list.properties = { next: list };
    expect(fieldsOf(list).length).toBeLessThan(20);
    expect(JSON.stringify(exampleOf(list)).length).toBeLessThan(200);
  });
});

describe('A curl command', () => {
  it('keeps a shell from reading the body and the query', () => {
    const command = curlCommand(
      {
        path: '/things/{id}',
        method: 'post',
        operationId: 'thing',
        responses: {},
        security: [{ scopedToken: [] }],
        parameters: [
          { name: 'id', in: 'path', example: 'a/b' },
          { name: 'q', in: 'query', example: "it's & $HOME" },
        ],
        requestBody: { content: { 'application/json': { example: { name: "it's" } } } },
      },
      'https://host',
    );
    expect(command.split(' \\\n  ')).toEqual([
      "curl -X POST 'https://host/things/a%2Fb?q=it%27s+%26+%24HOME'",
      '-H "Authorization: Bearer $SCOPED_TOKEN"',
      "-H 'Content-Type: application/json'",
      `-d '{"name": "it'\\''s"}'`,
    ]);
  });
});
