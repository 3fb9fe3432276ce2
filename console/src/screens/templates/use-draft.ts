/** The editor's state: the draft and its JSON text. While the text is not a JSON object, the last valid draft stays. */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { useState } from 'preact/hooks';
import { readJson } from '../../parts/json-places.ts';
import { type Draft, textOf } from './draft.ts';

export interface DraftState {
  draft: Draft;
  text: string;
  /** `json`: the text is not JSON; `object`: the JSON is not an object. The form shows the last valid draft. */
  trouble: 'json' | 'object' | undefined;
  setText(text: string): void;
  change(next: (draft: Draft) => Draft): void;
  /** Restores the text of the last valid draft. */
  restore(): void;
}

interface Held {
  draft: Draft;
  text: string;
  trouble: DraftState['trouble'];
}

export function readText(before: Draft, text: string): Held {
  const read = readJson(text);
  if (!('value' in read)) return { draft: before, text, trouble: 'json' };
  return isObject(read.value)
    ? { draft: read.value, text, trouble: undefined }
    : { draft: before, text, trouble: 'object' };
}

export function changedByForm(next: Draft): Held {
  return { draft: next, text: textOf(next), trouble: undefined };
}

export function useDraft(start: Draft, onChange: () => void): DraftState {
  const [held, setHeld] = useState<Held>(() => changedByForm(start));
  return {
    ...held,
    setText(text) {
      setHeld(({ draft }) => readText(draft, text));
      onChange();
    },
    change(next) {
      setHeld((before) => (before.trouble ? before : changedByForm(next(before.draft))));
      onChange();
    },
    restore() {
      setHeld(({ draft }) => changedByForm(draft));
    },
  };
}
