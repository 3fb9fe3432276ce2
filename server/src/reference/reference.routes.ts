/** The API reference: the OpenAPI document made from the schemas that validate, and a readable page of it. */
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { sendPage } from '../http/html.ts';
import { type OpenApiDocument, renderReference } from './reference-page.ts';
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
          'Embedded data-integration set-up for your customers: workspaces, scoped tokens and widget tokens. ' +
          'Every request carries `Authorization: Bearer <token>`. Every error has the body `{"detail": …}`.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl }],
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
    transform: ({ schema, url }) => ({
      schema: url.startsWith('/platform/') ? { ...schema, hide: true } : schema,
      url,
    }),
  });
}

export function referenceRoutes(app: FastifyInstance): void {
  const options = { config: { access: 'public' as const }, schema: { hide: true } };
  let document: OpenApiDocument | undefined;
  const read = () => {
    document ??= app.swagger() as unknown as OpenApiDocument;
    return document;
  };
  app.get('/openapi.json', options, async () => read());
  app.get('/docs', options, async (_request, reply) => sendPage(reply, 200, renderReference(read())));
  app.get('/docs/style.css', options, async (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=300').send(style),
  );
}
