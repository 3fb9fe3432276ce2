/** The two kinds of templates, for endpoints that are the same for both. */
import { ConnectionTemplatePath } from '@inlay/contract/connection-templates';
import { SourceTemplatePath } from '@inlay/contract/source-templates';
import type { TProperties } from 'typebox';
import { AppError, type ErrorCode } from '../errors.ts';
import type { TemplateRef } from '../template-ref.ts';
import { findAnyConnectionTemplate, getConnectionTemplate } from './connection-templates.ts';
import type { TemplatesContext } from './context.ts';
import { findAnySourceTemplate, getSourceTemplate } from './source-templates.ts';
import type { VersionedTemplate } from './versions.ts';

export interface VersionedKind {
  name: 'source' | 'connection';
  path: string;
  tag: string;
  /** What a template of this kind is called. */
  what: string;
  params: TProperties;
  /** What the id of a rollout is called in paths. */
  rolloutParam: string;
  /** What the id of a plan is called in paths. */
  planParam: string;
  notFound: ErrorCode;
  definitionNotFound: ErrorCode;
  find(ctx: TemplatesContext, organizationId: string, params: unknown): Promise<VersionedTemplate>;
  /** Finds it even if it is deleted: a rollout may go on for what was made from it. */
  findAny(ctx: TemplatesContext, organizationId: string, params: unknown): Promise<TemplateRef>;
}

export const versionedKinds: VersionedKind[] = [
  {
    name: 'source',
    path: '/api/v1/integrations/templates/sources/:source_template_id',
    tag: 'Source templates',
    what: 'source template',
    params: SourceTemplatePath.properties,
    rolloutParam: 'source_rollout_id',
    planParam: 'source_plan_id',
    notFound: 'source_template_not_found',
    definitionNotFound: 'source_definition_not_found',
    async find(ctx, organizationId, params) {
      const id = String((params as Record<string, unknown>).source_template_id);
      const { version, definition_id } = await getSourceTemplate(ctx, organizationId, id);
      return { organizationId, kind: 'source', templateId: id, current: version, definitionId: definition_id };
    },
    async findAny(ctx, organizationId, params) {
      const id = String((params as Record<string, unknown>).source_template_id);
      if (!(await findAnySourceTemplate(ctx, organizationId, id))) throw new AppError('source_template_not_found');
      return { organizationId, kind: 'source', templateId: id };
    },
  },
  {
    name: 'connection',
    path: '/api/v1/integrations/templates/connections/:connection_template_id',
    tag: 'Connection templates',
    what: 'connection template',
    params: ConnectionTemplatePath.properties,
    rolloutParam: 'connection_rollout_id',
    planParam: 'connection_plan_id',
    notFound: 'connection_template_not_found',
    definitionNotFound: 'destination_definition_not_found',
    async find(ctx, organizationId, params) {
      const id = String((params as Record<string, unknown>).connection_template_id);
      const { version, definition_id } = await getConnectionTemplate(ctx, organizationId, id);
      return { organizationId, kind: 'connection', templateId: id, current: version, definitionId: definition_id };
    },
    async findAny(ctx, organizationId, params) {
      const id = String((params as Record<string, unknown>).connection_template_id);
      if (!(await findAnyConnectionTemplate(ctx, organizationId, id)))
        throw new AppError('connection_template_not_found');
      return { organizationId, kind: 'connection', templateId: id };
    },
  },
];
