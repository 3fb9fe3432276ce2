/** The endpoints with which operators manage templates. Most are the same for both kinds. */
import type { RollbackRequest } from '@inlay/contract/catalog/rollouts';
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { previewConnectionDraft } from '../catalog/templates/connection-template-drafts.ts';
import { connectionRules, presentConnectionTemplates } from '../catalog/templates/connection-templates.ts';
import { describeCron } from '../catalog/templates/cron.ts';
import { createSourceTemplate, previewDraft } from '../catalog/templates/source-template-drafts.ts';
import { presentSummary, sourceRules } from '../catalog/templates/source-templates.ts';
import {
  getTemplate,
  listTemplates,
  type TemplateRules,
  tagTemplate,
  type UpdateRequest,
  untagTemplate,
} from '../catalog/templates/templates.ts';
import { idIn } from '../catalog/templates/versioned-kinds.ts';
import type { TemplateKind } from '../kernel/db/tables.ts';
import { type Handle, serve } from '../kernel/http/endpoint.ts';
import { isoTime } from '../kernel/iso-time.ts';
import { causedBy } from '../log/events/journal.ts';
import { changedBy, type PipelinesContext } from '../pipelines/context.ts';
import {
  type ChangedTemplate,
  createConnectionTemplate,
  deleteTemplate,
  rollBackTemplate,
  updateTemplate,
} from './template-changes.ts';

export function templateRoutes(app: FastifyInstance, pipelines: PipelinesContext): void {
  const ctx = pipelines.templates;

  serve(app, operations.sourceTemplates, {
    list: async ({ query, principal }) => {
      const { tags = [], tags_mode: mode = 'all' } = query;
      const found = await listTemplates(ctx, 'source', principal.organizationId, { tags, mode });
      return { data: found.map((template) => presentSummary(ctx, template)) };
    },

    create: async ({ body, principal, cause }) =>
      await sourceRules.present(ctx, await createSourceTemplate(causedBy(ctx, cause), principal, body)),

    preview: async ({ body, principal }) => await previewDraft(ctx, principal.organizationId, body),
    ...sameForBoth(pipelines, sourceRules),
  });

  serve(app, operations.connectionTemplates, {
    list: async ({ query, principal }) => {
      const { tags = [], tags_mode: mode = 'all' } = query;
      const found = await listTemplates(ctx, 'connection', principal.organizationId, { tags, mode });
      return { data: await presentConnectionTemplates(ctx, found) };
    },

    create: async ({ body, principal, cause }) =>
      await connectionRules.present(ctx, await createConnectionTemplate(changedBy(pipelines, cause), principal, body)),

    preview: async ({ body, principal }) => await previewConnectionDraft(ctx, principal.organizationId, body),
    describeCron: async ({ body }) => describeCron(body.cron_expression, ctx.runtime.now()),
    ...sameForBoth(pipelines, connectionRules),
  });
}

type Group = typeof operations.sourceTemplates | typeof operations.connectionTemplates;
/** What an endpoint of either kind gets, before it is known which id the path has. */
type Input<Name extends keyof Group> = Omit<Parameters<Handle<Group[Name]>>[0], 'params' | 'body'> & { params: object };

function sameForBoth<Kind extends TemplateKind>(pipelines: PipelinesContext, rules: TemplateRules<Kind>) {
  const ctx = pipelines.templates;
  const idOf = (params: object) => idIn(params, `${rules.kind}_template_id`);
  const presentChanged = async ({ template, rollout }: ChangedTemplate<Kind>) => ({
    ...(await rules.present(ctx, template)),
    ...(rollout && rules.kind === 'source' && { propagated_sources: rollout.sources }),
    ...(rollout && { rollout_id: rollout.id }),
  });
  return {
    get: async ({ params, principal: { organizationId } }: Input<'get'>) =>
      await rules.present(ctx, await getTemplate(ctx, { organizationId, kind: rules.kind, templateId: idOf(params) })),

    update: async ({ params, body, principal, cause }: Input<'update'> & { body: UpdateRequest<Kind> }) =>
      await presentChanged(await updateTemplate(changedBy(pipelines, cause), rules, principal, idOf(params), body)),

    rollBack: async ({ params, body, principal, cause }: Input<'rollBack'> & { body: RollbackRequest }) =>
      await presentChanged(await rollBackTemplate(changedBy(pipelines, cause), rules, principal, idOf(params), body)),

    delete: async ({ params, query, principal, cause }: Input<'delete'>) =>
      await deleteTemplate(changedBy(pipelines, cause), rules, principal, idOf(params), query.existing),

    addTag: async ({ params, body, principal, cause }: Input<'addTag'> & { body: { tag: string } }) =>
      await rules.present(ctx, await tagTemplate(causedBy(ctx, cause), rules, principal, idOf(params), body.tag)),

    removeTag: async ({ params, principal, cause }: Input<'removeTag'>) => {
      const name = idIn(params, 'tag_name');
      const { deletedAt } = await untagTemplate(causedBy(ctx, cause), rules, principal, idOf(params), name);
      return { deleted_at: isoTime(deletedAt) };
    },
  };
}
