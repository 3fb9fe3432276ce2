/**
 * Decides which templates a set of tags selects. Nothing else decides that: lists, the templates that a token may use,
 * the connections of a new source and the explanation of an offer all ask here. An empty set of tags selects
 * everything, in both modes.
 */
import type { TagMode } from '@inlay/contract/fields';
import type { TemplateFilters } from '../../kernel/principals.ts';

export interface TagFilter {
  tags: readonly string[];
  mode: TagMode;
}

export const noFilter: TagFilter = { tags: [], mode: 'any' };

export interface Verdict {
  shown: boolean;
  /** The reason, in a sentence. */
  rule: string;
  matchingTags: string[];
  missingTags: string[];
}

/** Two tags are the same when their NFC forms are the same. */
export function tagIdentity(name: string): string {
  return name.normalize('NFC');
}

export function judge(templateTags: readonly string[], { tags, mode }: TagFilter): Verdict {
  const had = new Set(templateTags.map(tagIdentity));
  const selected = [...new Set(tags.map(tagIdentity))];
  const matchingTags = selected.filter((tag) => had.has(tag));
  const missingTags = selected.filter((tag) => !had.has(tag));
  const verdict = (shown: boolean, rule: string) => ({
    shown,
    rule: `${shown ? 'Shown' : 'Hidden'}: ${rule}`,
    matchingTags,
    missingTags,
  });
  if (selected.length === 0) return verdict(true, 'no tags are selected, so every template is shown.');
  if (mode === 'any') {
    return matchingTags.length > 0
      ? verdict(true, 'has at least one of the selected tags (mode any).')
      : verdict(false, 'has none of the selected tags (mode any).');
  }
  return missingTags.length === 0
    ? verdict(true, 'has all selected tags (mode all).')
    : verdict(false, `lacks ${missingTags.length} of ${selected.length} selected tags (mode all).`);
}

export function isSelected(templateTags: readonly string[], filter: TagFilter): boolean {
  return judge(templateTags, filter).shown;
}

/** A token without filters is offered everything. */
export function sourceFilterOf(filters: TemplateFilters | undefined): TagFilter {
  if (!filters) return noFilter;
  return { tags: filters.selected_source_template_tags, mode: filters.selected_source_template_tags_mode };
}

export function connectionFilterOf(filters: TemplateFilters | undefined): TagFilter {
  if (!filters) return noFilter;
  return { tags: filters.selected_connection_template_tags, mode: filters.selected_connection_template_tags_mode };
}
