/** The two kinds of templates, for endpoints that are the same for both. */
import { operations } from '@inlay/contract/operations';
import type { TemplateKind } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import type { TemplateRef } from '../../kernel/template-ref.ts';
import type { TemplatesContext } from './context.ts';
import { findAnyTemplate, getTemplate } from './templates.ts';
import type { VersionedTemplate } from './versions.ts';

export interface VersionedKind {
  name: TemplateKind;
  operations: typeof operations.sourceTemplates | typeof operations.connectionTemplates;
  /** What the id of a rollout is called in paths. */
  rolloutParam: string;
  /** What the id of a plan is called in paths. */
  planParam: string;
  find(ctx: TemplatesContext, organizationId: string, params: unknown): Promise<VersionedTemplate>;
  /** Finds deleted templates, too, because a rollout for their sources and connections may continue. */
  findAny(ctx: TemplatesContext, organizationId: string, params: unknown): Promise<TemplateRef>;
}

export const versionedKinds: VersionedKind[] = [
  {
    ...finders('source', 'source_template_id'),
    operations: operations.sourceTemplates,
    rolloutParam: 'source_rollout_id',
    planParam: 'source_plan_id',
  },
  {
    ...finders('connection', 'connection_template_id'),
    operations: operations.connectionTemplates,
    rolloutParam: 'connection_rollout_id',
    planParam: 'connection_plan_id',
  },
];

function finders(name: TemplateKind, idParam: string): Pick<VersionedKind, 'name' | 'find' | 'findAny'> {
  const refOf = (organizationId: string, params: unknown): TemplateRef => ({
    organizationId,
    kind: name,
    templateId: String((params as Record<string, unknown>)[idParam]),
  });
  return {
    name,
    async find(ctx, organizationId, params) {
      const ref = refOf(organizationId, params);
      const { version, definition_id } = await getTemplate(ctx, ref);
      return { ...ref, current: version, definitionId: definition_id };
    },
    async findAny(ctx, organizationId, params) {
      const ref = refOf(organizationId, params);
      if (!(await findAnyTemplate(ctx, ref))) throw new AppError(`${name}_template_not_found`);
      return ref;
    },
  };
}
