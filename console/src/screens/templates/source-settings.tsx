/** What customers see of a source template: name, description, category and icon; and the tags that control who sees it. */
import { TextField } from '../../parts/fields.tsx';
import { changed, type Draft } from './draft.ts';
import { TagsField } from './tags-field.tsx';
import { words } from './words.ts';

interface SettingsProps {
  draft: Draft;
  change(next: (draft: Draft) => Draft): void;
}

export function SourceSettings({ draft, change }: SettingsProps) {
  const text = (name: string) => (typeof draft[name] === 'string' ? (draft[name] as string) : '');
  const set = (name: string) => (value: string) =>
    change((before) => changed(before, [name], value === '' && name !== 'name' ? null : value));
  return (
    <>
      <TextField label={words.name} value={text('name')} onInput={set('name')} />
      <TextField
        label={words.editor.description}
        hint={words.editor.descriptionHint}
        value={text('description')}
        onInput={set('description')}
      />
      <TextField
        label={words.editor.category}
        hint={words.editor.categoryHint}
        value={text('category')}
        onInput={set('category')}
      />
      <TextField label={words.editor.icon} hint={words.editor.iconHint} value={text('icon')} onInput={set('icon')} />
      <TagsField draft={draft} change={change} />
    </>
  );
}
