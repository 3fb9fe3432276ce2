/** The endpoints of template tags. The name of a tag is part of the path, percent-encoded. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { causedBy } from '../../log/events/journal.ts';
import type { TemplatesContext } from './context.ts';
import * as tags from './tags.ts';

export function tagRoutes(app: FastifyInstance, ctx: TemplatesContext): void {
  serve(app, operations.templateTags, {
    list: async ({ principal }) => ({
      data: (await tags.listTags(ctx, principal.organizationId)).map(tags.presentTag),
    }),

    create: async ({ body, principal, cause }) =>
      tags.presentTag(await tags.createTag(causedBy(ctx, cause), principal.organizationId, body.name)),

    rename: async ({ params, body, principal, cause }) =>
      tags.presentTag(await tags.renameTag(causedBy(ctx, cause), principal.organizationId, params.tag_name, body.name)),

    delete: async ({ params, principal, cause }) => {
      const { id, deletedAt } = await tags.deleteTag(causedBy(ctx, cause), principal.organizationId, params.tag_name);
      return { id, deleted_at: isoTime(deletedAt) };
    },
  });
}
