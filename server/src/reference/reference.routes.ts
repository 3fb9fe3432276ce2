/** The API reference: the OpenAPI document made from the schemas that validate, and a readable page of it. */
import swagger from '@fastify/swagger';
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify';
import type { Html } from '../html.ts';
import { refusalsOnAnyPath } from '../http/error-catalogue.ts';
import { sendPage } from '../http/html.ts';
import { completeDocument, type OpenApiDocument } from './document.ts';
import { renderReference } from './reference-page.ts';
import { style } from './style.ts';

/** Before any route, so that it sees them all. */
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
          description: 'What your customers may set up: a connector, and the part of its configuration that is yours.',
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
          description: 'The same as your customer can do, in any workspace of yours.',
        },
        { name: 'Definitions', description: 'The connectors there are, and how each is configured.' },
        { name: 'Operator tokens', description: 'The tokens of your own backends.' },
      ],
      components: {
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
    // The bundled platform is documented by the platform it imitates.
    transform: ({ schema, url, route }) => ({
      schema: url.startsWith('/platform/') ? { ...schema, hide: true } : withErrors(schema, route.config),
      url,
    }),
    transformObject: (made) => {
      if (!('openapiObject' in made)) throw new Error('The reference is made of OpenAPI 3.');
      return completeDocument(made.openapiObject as OpenApiDocument) as typeof made.openapiObject;
    },
  });
}

function withErrors(schema: FastifySchema, config: FastifyContextConfig | undefined): FastifySchema {
  if (!config?.describeErrors) return schema;
  return { ...schema, response: { ...(schema.response as object), ...config.describeErrors() } };
}

export function referenceRoutes(app: FastifyInstance): void {
  const options = { config: { access: 'public' as const }, schema: { hide: true } };
  let page: Html | undefined;
  app.get('/openapi.json', options, async () => app.swagger());
  app.get('/docs', options, async (_request, reply) => {
    // No route is added once the service listens, so neither the document nor the page of it changes.
    page ??= renderReference(app.swagger() as OpenApiDocument, refusalsOnAnyPath());
    return sendPage(reply, { status: 200, page });
  });
  // Whoever opens the printed address in a browser wants to know what they can do with it.
  app.get('/', options, async (_request, reply) => reply.redirect('docs'));
  app.get('/docs/style.css', options, async (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=300').send(style),
  );
}
