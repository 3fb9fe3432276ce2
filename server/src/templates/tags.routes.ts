/** The endpoints of template tags. The name of a tag is part of the path, percent-encoded. */
import {
  DeletedTemplateTag,
  TemplateTag,
  TemplateTagList,
  TemplateTagPath,
  TemplateTagRequest,
} from '@inlay/contract/template-tags';
import type { FastifyInstance } from 'fastify';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import { isoTime } from '../iso-time.ts';
import type { TemplatesContext } from './context.ts';
import * as tags from './tags.ts';

const path = '/api/v1/integrations/templates/tags';
const tag = 'Template tags';

export function tagRoutes(app: FastifyInstance, ctx: TemplatesContext): void {
  endpoint(app, {
    method: 'GET',
    url: path,
    access: 'operator',
    tag,
    summary: 'List tags',
    answer: TemplateTagList,
    handle: async ({ principal }) => ({
      data: (await tags.listTags(ctx, principal.organizationId)).map(tags.presentTag),
    }),
  });

  endpoint(app, {
    method: 'POST',
    url: path,
    access: 'operator',
    tag,
    summary: 'Create tag',
    body: TemplateTagRequest,
    status: 201,
    answer: TemplateTag,
    errors: ['tag_name_taken'],
    handle: async ({ body, principal, cause }) =>
      tags.presentTag(await tags.createTag(causedBy(ctx, cause), principal.organizationId, body.name)),
  });

  endpoint(app, {
    method: 'PUT',
    url: `${path}/:tag_name`,
    access: 'operator',
    tag,
    summary: 'Rename tag',
    description:
      'Renames the tag on every template that has it. Widget tokens issued before still ask for the old name.',
    params: TemplateTagPath,
    body: TemplateTagRequest,
    answer: TemplateTag,
    errors: ['tag_not_found', 'tag_name_taken'],
    handle: async ({ params, body, principal, cause }) =>
      tags.presentTag(await tags.renameTag(causedBy(ctx, cause), principal.organizationId, params.tag_name, body.name)),
  });

  endpoint(app, {
    method: 'DELETE',
    url: `${path}/:tag_name`,
    access: 'operator',
    tag,
    summary: 'Delete tag',
    description: 'Removes the tag from every template that has it. The templates stay.',
    params: TemplateTagPath,
    answer: DeletedTemplateTag,
    errors: ['tag_not_found'],
    handle: async ({ params, principal, cause }) => {
      const { id, deletedAt } = await tags.deleteTag(causedBy(ctx, cause), principal.organizationId, params.tag_name);
      return { id, deleted_at: isoTime(deletedAt) };
    },
  });
}
