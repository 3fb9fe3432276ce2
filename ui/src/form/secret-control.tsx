/**
 * A secret: hidden while it is typed, unless the button with the eye is pressed. A saved secret comes as a row of
 * asterisks and is sent back as such unless the customer types something else. Until the form is sent, the customer can
 * go back to the saved secret.
 */
import { useState } from 'preact/hooks';
import { type ControlProps, useField, useForm } from './form-context.ts';
import { useWords } from './form-words.ts';
import { CheckIcon, EyeIcon, EyeOffIcon, UndoIcon } from './icons.tsx';
import { exampleOf, noProse, textOf, useInputProps } from './text-controls.tsx';

const mask = /^\*+$/;

export function SecretControl({ value, onChange }: ControlProps) {
  const words = useWords().form;
  const { isDisabled } = useForm();
  const { field, fault } = useField();
  const { title, schema } = field;
  const [saved] = useState<string | undefined>(typeof value === 'string' && mask.test(value) ? value : undefined);
  const [isRevealed, setRevealed] = useState(false);
  const isUnchanged = saved !== undefined && value === saved;
  // The service rejects a saved secret if the address it is sent to changes.
  const isKept = isUnchanged && fault === undefined;
  const input = {
    ...useInputProps(),
    ...noProse,
    placeholder: isKept ? words.saved : exampleOf(schema),
    value: isUnchanged ? '' : textOf(value),
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onChange(currentTarget.value === '' ? undefined : currentTarget.value),
  };
  const state = `inlay-secret${isKept ? ' inlay-secret-saved' : ''}${schema.multiline === true ? ' inlay-secret-long' : ''}`;
  return (
    <div class={state}>
      {schema.multiline === true ? (
        <textarea
          {...input}
          rows={4}
          class={`inlay-control inlay-control-code${isRevealed ? '' : ' inlay-control-veiled'}`}
        />
      ) : (
        // Browsers would offer saved passwords of this site, but none of them belongs here.
        <input
          {...input}
          {...(isRevealed ? { type: 'text' } : { type: 'password' })}
          class="inlay-control"
          autoComplete="new-password"
        />
      )}
      <span class="inlay-secret-buttons">
        {isKept && <CheckIcon />}
        {saved !== undefined && !isUnchanged && (
          <button
            type="button"
            class="inlay-icon-button"
            disabled={isDisabled}
            title={words.keepSaved}
            aria-label={words.keepSaved}
            onClick={({ currentTarget }) => {
              onChange(saved);
              // The button disappears with the change that it undoes, so the input gets the focus.
              currentTarget.closest('.inlay-secret')?.querySelector<HTMLElement>('.inlay-control')?.focus();
            }}
          >
            <UndoIcon />
          </button>
        )}
        {!isUnchanged && (
          <button
            type="button"
            class="inlay-icon-button"
            disabled={isDisabled}
            aria-pressed={isRevealed}
            aria-label={words.show(title)}
            onClick={() => setRevealed(!isRevealed)}
          >
            {isRevealed ? <EyeOffIcon /> : <EyeIcon />}
          </button>
        )}
      </span>
    </div>
  );
}
