/** The endpoints about the versions of templates, the same for both kinds. */
import {
  ListVersionsQuery,
  TemplateVersion,
  TemplateVersionList,
  VersionNumber,
} from '@inlay/contract/template-versions';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { endpoint } from '../http/endpoint.ts';
import type { TemplatesContext } from './context.ts';
import { type VersionedKind, versionedKinds } from './versioned-kinds.ts';
import { listVersions, presentVersion } from './versions.ts';

export function versionRoutes(app: FastifyInstance, ctx: TemplatesContext): void {
  for (const kind of versionedKinds) routesFor(app, ctx, kind);
}

function routesFor(
  app: FastifyInstance,
  ctx: TemplatesContext,
  { path, tag, what, params, notFound, find }: VersionedKind,
): void {
  endpoint(app, {
    method: 'GET',
    url: `${path}/versions`,
    access: 'operator',
    tag,
    summary: `List versions of a ${what}`,
    description:
      'Every change of the template makes a version. Versions never change, and are kept as long as the template.',
    params: Type.Object(params),
    query: ListVersionsQuery,
    answer: TemplateVersionList,
    errors: [notFound, 'definitions_unavailable'],
    handle: async ({ params, query, principal }) => {
      const template = await find(ctx, principal.organizationId, params);
      return await listVersions(ctx, template, { limit: query.limit ?? 20, cursor: query.cursor });
    },
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/versions/:version`,
    access: 'operator',
    tag,
    summary: `Get version of a ${what}`,
    params: Type.Object({ ...params, version: VersionNumber('Number of the version') }),
    answer: TemplateVersion,
    errors: [notFound, 'template_version_not_found', 'definitions_unavailable'],
    handle: async ({ params, principal }) => {
      const given = params as Record<string, unknown>;
      return await presentVersion(ctx, await find(ctx, principal.organizationId, given), Number(given.version));
    },
  });
}
