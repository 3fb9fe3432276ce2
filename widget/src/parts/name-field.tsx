/** The customer's name for a source. The field is above the connector's own fields and looks like them. */
import { shortTextFault } from '@inlay/contract/text/text-rules';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import type { Ref } from 'preact';
import { useWords, type Words } from '../words/words.ts';

export interface NameFieldProps {
  formId: string;
  value: string;
  fault: string | undefined;
  isDisabled: boolean;
  inputRef: Ref<HTMLInputElement>;
  onInput(value: string): void;
}

export function nameFault(name: string, words: Words['name']): string | undefined {
  if (name.trim() === '') return words.missing;
  return shortTextFault('', name) === undefined ? undefined : words.unusable;
}

export function NameField({ formId, value, fault, isDisabled, inputRef, onInput }: NameFieldProps) {
  const words = useWords().name;
  const id = `${formId}-name`;
  return (
    <div class="inlay-field">
      <label class="inlay-field-label" for={id}>
        <span class="inlay-field-title">{words.label}</span>
      </label>
      <p class="inlay-field-hint" id={`${id}-hint`}>
        {words.hint}
      </p>
      <input
        class="inlay-control"
        id={id}
        ref={inputRef}
        form={formId}
        type="text"
        autoComplete="off"
        value={value}
        disabled={isDisabled}
        aria-required
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-hint${fault ? ` ${id}-fault` : ''}`}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      {fault && (
        <p class="inlay-field-fault" id={`${id}-fault`}>
          <Glyph name="alert" />
          <span>{fault}</span>
        </p>
      )}
    </div>
  );
}
