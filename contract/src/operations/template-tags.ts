/** Operations on template tags. The name of a tag is part of the path, percent-encoded. */
import {
  DeletedTemplateTag,
  TemplateTag,
  TemplateTagList,
  TemplateTagPath,
  TemplateTagRequest,
} from '../catalog/template-tags.ts';
import type { Operation } from './operation.ts';

const about = { access: 'operator', tag: 'Template tags' } as const;

export const templateTags = {
  list: {
    ...about,
    route: 'GET /api/v1/integrations/templates/tags',
    summary: 'List tags',
    answer: TemplateTagList,
  },
  create: {
    ...about,
    route: 'POST /api/v1/integrations/templates/tags',
    summary: 'Create tag',
    body: TemplateTagRequest,
    status: 201,
    answer: TemplateTag,
    errors: ['tag_name_taken'],
  },
  rename: {
    ...about,
    route: 'PUT /api/v1/integrations/templates/tags/{tag_name}',
    summary: 'Rename tag',
    description: 'Renames the tag on all templates. Existing widget tokens still refer to the old name.',
    params: TemplateTagPath,
    body: TemplateTagRequest,
    answer: TemplateTag,
    errors: ['tag_not_found', 'tag_name_taken'],
  },
  delete: {
    ...about,
    route: 'DELETE /api/v1/integrations/templates/tags/{tag_name}',
    summary: 'Delete tag',
    description: 'Removes the tag from all templates and deletes it. The templates are kept.',
    params: TemplateTagPath,
    answer: DeletedTemplateTag,
    errors: ['tag_not_found'],
  },
} as const satisfies Record<string, Operation>;
