/** Tags of a template, with the organization's tags as suggestions. */
import { Button } from '@inlay/ui/parts/button.tsx';
import { useId, useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { changed, type Draft } from './draft.ts';
import { words } from './words.ts';

interface TagsFieldProps {
  draft: Draft;
  change(next: (draft: Draft) => Draft): void;
}

export function TagsField({ draft, change }: TagsFieldProps) {
  const { data } = useAnswer(requestTo('GET /integrations/templates/tags'));
  return (
    <NameList
      label={words.tags}
      hint={words.editor.tagsHint}
      names={namesIn(draft.tags)}
      proposals={(data?.data ?? []).map(({ name }) => name)}
      onChange={(names) => change((before) => changed(before, ['tags'], names))}
    />
  );
}

export const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : [];

interface NameListProps {
  label: string;
  hint?: string;
  names: readonly string[];
  proposals?: readonly string[];
  onChange(names: string[]): void;
}

/** A list of short texts, each with a button to remove it. */
export function NameList({ label, hint, names, proposals = [], onChange }: NameListProps) {
  const id = useId();
  const [typed, setTyped] = useState('');
  const add = () => {
    const name = typed.trim();
    if (name !== '' && !names.includes(name)) onChange([...names, name]);
    setTyped('');
  };
  return (
    <div class="c-field">
      <label for={id}>{label}</label>
      {names.length > 0 && (
        <ul class="c-tags">
          {names.map((name) => (
            <li class="c-tag t-name" key={name}>
              {name}
              <button
                type="button"
                aria-label={words.editor.remove(name)}
                onClick={() => onChange(names.filter((one) => one !== name))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="t-add">
        <input
          class="c-control"
          id={id}
          value={typed}
          list={`${id}-list`}
          autoComplete="off"
          aria-describedby={hint ? `${id}-hint` : undefined}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.isComposing) return;
            event.preventDefault();
            add();
          }}
        />
        <datalist id={`${id}-list`}>
          {proposals
            .filter((name) => !names.includes(name))
            .map((name) => (
              <option value={name} key={name} />
            ))}
        </datalist>
        <Button onClick={add} label={words.editor.addTo(label)}>
          {words.editor.add}
        </Button>
      </div>
      {hint && (
        <p class="c-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
