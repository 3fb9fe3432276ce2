/** The two kinds of templates, for endpoints that are the same for both. */
import { operations } from '@inlay/contract/operations';
import type { TemplateKind } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import type { TemplatesContext } from './context.ts';
import { findAnyTemplate, getTemplate } from './templates.ts';
import type { VersionedTemplate } from './versions.ts';

export type VersionedKind = ReturnType<typeof versionedKind>;

/** A parameter of the path, where its name depends on the kind of the template. */
export const idIn = (params: object, name: string) => String((params as Record<string, unknown>)[name]);

export const versionedKinds = [
  versionedKind('source', operations.sourceTemplates),
  versionedKind('connection', operations.connectionTemplates),
];

function versionedKind(
  kind: TemplateKind,
  group: typeof operations.sourceTemplates | typeof operations.connectionTemplates,
) {
  const refOf = (organizationId: string, params: object) => ({
    organizationId,
    kind,
    templateId: idIn(params, `${kind}_template_id`),
  });
  return {
    operations: group,
    rolloutOf: (params: object) => idIn(params, `${kind}_rollout_id`),
    planOf: (params: object) => idIn(params, `${kind}_plan_id`),
    async find(ctx: TemplatesContext, organizationId: string, params: object): Promise<VersionedTemplate> {
      const ref = refOf(organizationId, params);
      const { version, definition_id } = await getTemplate(ctx, ref);
      return { ...ref, current: version, definitionId: definition_id };
    },
    /** Finds it even if it is deleted: a rollout may continue for what was made from it. */
    async findAny(ctx: TemplatesContext, organizationId: string, params: object) {
      const ref = refOf(organizationId, params);
      if (!(await findAnyTemplate(ctx, ref))) throw new AppError(`${kind}_template_not_found`);
      return ref;
    },
  };
}
