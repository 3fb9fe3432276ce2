/**
 * Which templates are offered, by tag: the fields that widget tokens and the explanation of their filters share, and
 * the query that narrows a list.
 */
import { type Static, Type } from 'typebox';
import { Enumeration, Tag, tagModes, Uuid } from '../fields.ts';

const TagList = (of: string) =>
  Type.Array(Tag, {
    default: [],
    maxItems: 100,
    description: `Tags that filter the ${of} offered, at most 100.`,
    examples: [['crm', 'eu']],
  });
const TagListMode = (of: string) =>
  Enumeration(tagModes, {
    default: 'any',
    description: `How tags match. \`any\`: the ${of} has at least one of the tags. \`all\`: the ${of} has every tag.`,
  });

export const templateFilterFields = {
  selected_source_template_tags: Type.Optional(TagList('source templates')),
  selected_source_template_tags_mode: Type.Optional(TagListMode('source template')),
  selected_connection_template_tags: Type.Optional(TagList('connection templates')),
  selected_connection_template_tags_mode: Type.Optional(TagListMode('connection template')),
};

export const TemplateFilterRequest = Type.Object(templateFilterFields, {
  title: 'Template filter request',
  examples: [{ selected_source_template_tags: ['crm'], selected_source_template_tags_mode: 'any' }],
});
export type TemplateFilterRequest = Static<typeof TemplateFilterRequest>;

export const ListTemplatesQuery = Type.Object({
  tags: Type.Optional(
    Type.Array(Tag, {
      maxItems: 100,
      description: 'Returns only templates with these tags. Repeat the parameter for several tags.',
      examples: [['crm']],
    }),
  ),
  tags_mode: Type.Optional(
    Enumeration(tagModes, {
      default: 'all',
      description: 'How tags match. `all`: templates with every tag. `any`: templates with at least one tag.',
    }),
  ),
});
export type ListTemplatesQuery = Static<typeof ListTemplatesQuery>;

const Explained = Type.Object(
  {
    id: Uuid('Identifier of the template.', '9a4e7c30-1c55-4b8f-a1d7-0c6f2b8e4d21'),
    name: Type.String({ description: 'Name of the template. For a connection template, the name of its destination.' }),
    shown: Type.Boolean({ description: 'Whether a token with these filters is offered the template.' }),
    rule: Type.String({
      description: 'Reason for the decision.',
      examples: ['Shown: it has at least one of the selected tags.'],
    }),
    matching_tags: Type.Array(Type.String(), {
      description: 'Selected tags that the template has.',
      examples: [['crm']],
    }),
    missing_tags: Type.Array(Type.String(), {
      description: 'Selected tags that the template lacks.',
      examples: [['eu']],
    }),
  },
  { title: 'Explained template' },
);

export const TemplateExplanation = Type.Object(
  {
    source_templates: Type.Array(Explained, { description: 'All source templates of the organization.' }),
    connection_templates: Type.Array(Explained, { description: 'All connection templates of the organization.' }),
  },
  { title: 'Template explanation' },
);
export type TemplateExplanation = Static<typeof TemplateExplanation>;
