/** The API reference: the OpenAPI document made from the schemas that validate, and the readable pages made from it. */
import swagger from '@fastify/swagger';
import { type ResponseHeader, responseHeaders } from '@inlay/contract/response-headers';
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify';
import { type BuiltFile, builtJson } from '../../kernel/built-file.ts';
import { errorCodes, refusalsOnAnyPath } from '../../kernel/http/error-catalogue.ts';
import { sendNotFound } from '../../kernel/http/error-reply.ts';
import { sendPage } from '../../kernel/http/html.ts';
import { sendBuiltFile } from '../../kernel/http/send-built-file.ts';
import { referToComponents } from './components.ts';
import { completeDocument, type OpenApiDocument } from './document.ts';
import { icon, type ReferencePages, renderReference } from './reference-page.ts';
import { style } from './style.ts';
import { webhooksOf } from './webhooks.ts';

/** Call this before any route is added, so that it sees all routes. */
export async function describeRoutes(app: FastifyInstance, publicUrl: string, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Inlay',
        version,
        description:
          'Embedded data-integration set-up for your customers: workspaces that keep them apart, and tokens that let ' +
          'each of them, and the widget in your product, into their own.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl }],
      tags: [
        {
          name: 'Tokens',
          description: 'Scoped and widget tokens: what your backend generates for a customer, and how it is revoked.',
        },
        {
          name: 'Workspaces',
          description: 'A workspace holds what one of your customers has set up. The first token for it creates it.',
        },
        {
          name: 'Inside a workspace',
          description: 'What your customer, or the widget, does with a scoped token.',
        },
        {
          name: 'Source templates',
          description:
            'What your customers may set up: a connector, and the part of its configuration that you provide.',
        },
        {
          name: 'Connection templates',
          description: 'Where the data of every new source goes, and when.',
        },
        {
          name: 'Template tags',
          description: 'Words that group templates, so that a token can be offered some of them.',
        },
        {
          name: 'Inside a workspace, for operators',
          description: 'Everything that your customer can do, in any of your workspaces.',
        },
        {
          name: 'Operating',
          description: 'How all of your customers do: what fails, since when and why, and the jobs with their logs.',
        },
        { name: 'Quotas', description: 'How much a workspace may have and move, and how much it has used.' },
        {
          name: 'Events',
          description: 'What happens in all your workspaces, in one order, for as many readers as you like.',
        },
        {
          name: 'Audit',
          description: 'Who did what, from where, and what was refused: a trail that nobody can rewrite unnoticed.',
        },
        {
          name: 'Webhooks',
          description: 'Where events are sent as they happen, what became of each, and sending them again.',
        },
        {
          name: 'OAuth clients',
          description: 'Your apps at providers: their ids, secrets and redirect addresses.',
        },
        { name: 'Definitions', description: 'Which connectors there are, and how each is configured.' },
        { name: 'Operator tokens', description: 'The tokens of your own backends.' },
        { name: 'Console', description: 'Who is signed in to the console.' },
      ],
      components: {
        schemas: { ErrorCode: { type: 'string', title: 'Error code', enum: errorCodes } },
        headers: headerObjects(),
        securitySchemes: {
          operatorToken: {
            type: 'http',
            scheme: 'bearer',
            description: 'An operator token: the whole organization. Never in a browser or in version control.',
          },
          scopedToken: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'A scoped token, or the one inside a widget token: one workspace.',
          },
        },
      },
    },
    // The API of the bundled platform is documented by the hosted platform that it imitates.
    transform: ({ schema, url, route }) => ({
      schema: url.startsWith('/platform/') ? { ...schema, hide: true } : withResponses(schema, route.config),
      url,
    }),
    transformObject: (made) => {
      if (!('openapiObject' in made)) throw new Error('The reference is made of OpenAPI 3.');
      const document = referToComponents(completeDocument(made.openapiObject as OpenApiDocument));
      return { ...document, webhooks: webhooksOf() } as typeof made.openapiObject;
    },
  });
}

function withResponses(schema: FastifySchema, config: FastifyContextConfig | undefined): FastifySchema {
  return config?.describeResponses ? { ...schema, response: config.describeResponses() } : schema;
}

function headerObjects() {
  const described = Object.entries(responseHeaders as Record<string, ResponseHeader>).map(
    ([name, { description, type, example }]) => {
      const schema = name === 'X-Inlay-Error' ? { $ref: '#/components/schemas/ErrorCode' } : { type };
      return [name, { description, schema, example }];
    },
  );
  return Object.fromEntries(described);
}

export function referenceRoutes(app: FastifyInstance, script: BuiltFile): void {
  const options = { config: { access: 'public' as const }, schema: { hide: true } };
  // No route is added once the service listens, so neither the document nor its pages change.
  let document: BuiltFile | undefined;
  let rendered: ReferencePages | undefined;
  const pages = () => {
    rendered ??= renderReference(app.swagger() as OpenApiDocument, refusalsOnAnyPath());
    return rendered;
  };
  app.get('/openapi.json', options, async (request, reply) => {
    document ??= builtJson(app.swagger());
    // May be kept, and is asked for again: another version of the service has another document.
    return sendBuiltFile(request, reply.header('cache-control', 'no-cache'), document);
  });
  app.get('/docs', options, async (_request, reply) =>
    sendPage(reply, { status: 200, page: pages().overview, runsScripts: true }),
  );
  app.get<{ Params: { group: string } }>('/docs/:group', options, async (request, reply) => {
    const page = pages().groups.get(request.params.group);
    return page ? sendPage(reply, { status: 200, page, runsScripts: true }) : sendNotFound(reply);
  });
  // A person who opens the printed address in a browser wants to know what the service offers.
  app.get('/', options, async (_request, reply) => reply.redirect('docs'));
  const keptForMinutes = ['cache-control', 'public, max-age=300'] as const;
  app.get('/docs/reference.js', options, async (request, reply) =>
    sendBuiltFile(request, reply.header(...keptForMinutes), script),
  );
  app.get('/docs/style.css', options, async (_request, reply) =>
    reply
      .type('text/css; charset=utf-8')
      .header(...keptForMinutes)
      .send(style),
  );
  app.get('/docs/icon.svg', options, async (_request, reply) =>
    reply
      .type('image/svg+xml')
      .header(...keptForMinutes)
      .send(icon),
  );
}
