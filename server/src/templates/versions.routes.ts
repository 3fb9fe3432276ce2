/** The endpoints about the versions of templates, the same for both kinds. */
import { ConnectionTemplatePath } from '@inlay/contract/connection-templates';
import { SourceTemplatePath } from '@inlay/contract/source-templates';
import {
  ListVersionsQuery,
  TemplateVersion,
  TemplateVersionList,
  VersionNumber,
} from '@inlay/contract/template-versions';
import type { FastifyInstance } from 'fastify';
import { type TProperties, Type } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { getConnectionTemplate } from './connection-templates.ts';
import type { TemplatesContext } from './context.ts';
import { getSourceTemplate } from './source-templates.ts';
import { listVersions, presentVersion, type VersionedTemplate } from './versions.ts';

interface Kind {
  path: string;
  tag: string;
  /** What a template of this kind is called. */
  what: string;
  params: TProperties;
  notFound: ErrorCode;
  find(ctx: TemplatesContext, organizationId: string, params: Record<string, unknown>): Promise<VersionedTemplate>;
}

const kinds: Kind[] = [
  {
    path: '/api/v1/integrations/templates/sources/:source_template_id',
    tag: 'Source templates',
    what: 'source template',
    params: SourceTemplatePath.properties,
    notFound: 'source_template_not_found',
    async find(ctx, organizationId, { source_template_id: id }) {
      const { version, definition_id } = await getSourceTemplate(ctx, organizationId, String(id));
      return { organizationId, kind: 'source', templateId: String(id), current: version, definitionId: definition_id };
    },
  },
  {
    path: '/api/v1/integrations/templates/connections/:connection_template_id',
    tag: 'Connection templates',
    what: 'connection template',
    params: ConnectionTemplatePath.properties,
    notFound: 'connection_template_not_found',
    async find(ctx, organizationId, { connection_template_id: id }) {
      const { version, definition_id } = await getConnectionTemplate(ctx, organizationId, String(id));
      const template = { organizationId, kind: 'connection', templateId: String(id) } as const;
      return { ...template, current: version, definitionId: definition_id };
    },
  },
];

export function versionRoutes(app: FastifyInstance, ctx: TemplatesContext): void {
  for (const kind of kinds) routesFor(app, ctx, kind);
}

function routesFor(
  app: FastifyInstance,
  ctx: TemplatesContext,
  { path, tag, what, params, notFound, find }: Kind,
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
      const template = await find(ctx, principal.organizationId, params as Record<string, unknown>);
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
