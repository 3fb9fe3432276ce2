/**
 * Which templates a set of tags selects. The one place that decides it: for lists, for what a token is offered, for the
 * connections of a new source, and for the explanation of an offer. No tags select everything, in either mode.
 */
import type { TagMode } from '@inlay/contract/fields';
import type { TemplateFilters } from '../principals.ts';

export interface TagFilter {
  tags: readonly string[];
  mode: TagMode;
}

export const noFilter: TagFilter = { tags: [], mode: 'any' };

export interface Verdict {
  shown: boolean;
  /** Why, in a sentence. */
  rule: string;
  matchingTags: string[];
  missingTags: string[];
}

/** Tags are the same when their NFC forms are. */
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
  if (selected.length === 0) return verdict(true, 'no tags are selected, so every template is.');
  if (mode === 'any') {
    return matchingTags.length > 0
      ? verdict(true, 'it has at least one of the selected tags, which is enough in mode any.')
      : verdict(false, 'it has none of the selected tags, and mode any asks for at least one.');
  }
  return missingTags.length === 0
    ? verdict(true, 'it has every selected tag, as mode all asks for.')
    : verdict(
        false,
        `it lacks ${missingTags.length} of ${selected.length} selected tags, and mode all asks for every one.`,
      );
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
