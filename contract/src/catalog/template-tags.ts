/** Schemas for template tags. */
import { type Static, Type } from 'typebox';
import { Tag, Timestamp, Uuid } from '../fields.ts';

const exampleId = '3b9d4c1e-55a0-4a5c-8f0b-2f6a1d9e7c10';

export const TemplateTag = Type.Object(
  {
    id: Uuid('Identifier of the tag.', exampleId),
    name: Type.String({ description: 'Name of the tag.', examples: ['crm'] }),
    organization_id: Uuid('Organization that owns the tag.', '7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20'),
    created_at: Timestamp('When the tag was created.'),
    updated_at: Timestamp('When the tag was last renamed.'),
  },
  { title: 'Template tag' },
);
export type TemplateTag = Static<typeof TemplateTag>;

export const TemplateTagList = Type.Object(
  { data: Type.Array(TemplateTag, { description: 'All tags of the organization, sorted by name.' }) },
  { title: 'Template tag list' },
);
export type TemplateTagList = Static<typeof TemplateTagList>;

const TagName = Type.String({
  ...Tag,
  description:
    '1 to 255 characters without control characters. Compared case-sensitively after Unicode NFC normalization.',
  examples: ['crm'],
});

export const TemplateTagRequest = Type.Object(
  { name: TagName },
  { title: 'Template tag request', examples: [{ name: 'crm' }] },
);
export type TemplateTagRequest = Static<typeof TemplateTagRequest>;

export const TemplateTagPath = Type.Object({ tag_name: TagName });
export type TemplateTagPath = Static<typeof TemplateTagPath>;

export const DeletedTemplateTag = Type.Object(
  {
    id: Uuid('Identifier of the deleted tag.', exampleId),
    deleted_at: Timestamp('When the tag was deleted.'),
  },
  { title: 'Deleted template tag' },
);
export type DeletedTemplateTag = Static<typeof DeletedTemplateTag>;

/** Request body that adds a tag to a template. */
export const TagTemplateRequest = Type.Object(
  { tag: TagName },
  { title: 'Tag template request', examples: [{ tag: 'crm' }] },
);
export type TagTemplateRequest = Static<typeof TagTemplateRequest>;

export const UntaggedTemplate = Type.Object(
  { deleted_at: Timestamp('When the tag was removed from the template.') },
  { title: 'Untagged template' },
);
export type UntaggedTemplate = Static<typeof UntaggedTemplate>;

/** The tags of a template in a request. Unknown tags are created. */
export const TemplateTags = Type.Array(Tag, {
  maxItems: 100,
  description: 'Tags of the template, at most 100. Unknown tags are created.',
  examples: [['crm', 'eu']],
});
