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
          'Let your customers connect their data in your product: workspaces keep customers apart, and tokens give each customer and the embedded widget access to their own workspace.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl }],
      tags: [
        {
          name: 'Tokens',
          description: 'Scoped and widget tokens, which your backend generates for customers and can revoke.',
        },
        {
          name: 'Workspaces',
          description:
            'Each workspace holds the sources, destinations and connections of one customer, and is created by the first token for it.',
        },
        {
          name: 'Inside a workspace',
          description: 'What customers and the widget can do with a scoped token.',
        },
        {
          name: 'Source templates',
          description:
            'What your customers can connect: a connector and the part of its configuration that you provide.',
        },
        {
          name: 'Connection templates',
          description: 'Where the data of new sources goes, and on which schedule.',
        },
        {
          name: 'Template tags',
          description: 'Labels that group templates, so that a token can be restricted to some of them.',
        },
        {
          name: 'Inside a workspace, for operators',
          description: 'Everything your customers can do, for operators and in any workspace.',
        },
        {
          name: 'Operating',
          description: 'The health of all customers, causes of failures, and jobs with their logs.',
        },
        { name: 'Workers', description: 'Machines that run syncs for the bundled platform.' },
        { name: 'Quotas', description: 'Limits on what a workspace can have and move, and its current usage.' },
        {
          name: 'Events',
          description: 'Everything that happens in your workspaces, in a single order and for any number of readers.',
        },
        {
          name: 'Audit',
          description: 'Who did what, from where, and what was refused, in a tamper-evident trail.',
        },
        {
          name: 'Webhooks',
          description: 'Endpoints that receive events, their deliveries, and recovery of missed events.',
        },
        {
          name: 'OAuth clients',
          description: 'The apps that you registered with OAuth providers.',
        },
        { name: 'Definitions', description: 'The available connectors and their configuration.' },
        { name: 'Operator tokens', description: 'Tokens of your own backends.' },
        { name: 'Console', description: 'Active sessions of the console.' },
      ],
      components: {
        schemas: { ErrorCode: { type: 'string', title: 'Error code', enum: errorCodes } },
        headers: headerObjects(),
        securitySchemes: {
          operatorToken: {
            type: 'http',
            scheme: 'bearer',
            description:
              'Operator token for the whole organization. Never use it in a browser or commit it to version control.',
          },
          scopedToken: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'Scoped token for a single workspace, or the one inside a widget token.',
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
    // May be kept, and is requested again: another version of the service has another document.
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
