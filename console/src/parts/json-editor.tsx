/** Edits JSON. Errors are listed below, each with a link to its position. */
import { useId, useRef } from 'preact/hooks';
import type { Fault } from '../api/client.ts';
import { lineOf, nearestPlace, readJson, type Span } from './json-places.ts';

export interface JsonEditorProps {
  label: string;
  value: string;
  onInput(value: string): void;
  /** Validation errors from the service. */
  faults?: readonly Fault[];
  words: { notJson: string; place(line: number, column: number): string };
  isReadOnly?: boolean;
}

interface Shown {
  message: string;
  span: Span | undefined;
}

export function JsonEditor({ label, value, onInput, faults = [], words, isReadOnly = false }: JsonEditorProps) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const read = readJson(value);
  const shown: Shown[] =
    'faultAt' in read
      ? [{ message: words.notJson, span: { start: read.faultAt, end: read.faultAt + 1 } }]
      : faults.map(({ path, message }) => ({
          message: `${path.join('.')}: ${message}`,
          span: nearestPlace(read.places, path),
        }));
  const goTo = ({ start, end }: Span) => {
    area.current?.focus();
    area.current?.setSelectionRange(start, end);
  };
  return (
    <div class="c-field">
      {/* The heading above says the same. */}
      <label class="inlay-unseen" for={id}>
        {label}
      </label>
      <textarea
        class="c-editor"
        id={id}
        ref={area}
        value={value}
        spellcheck={false}
        readOnly={isReadOnly}
        aria-invalid={shown.length > 0}
        aria-describedby={shown.length > 0 ? `${id}-faults` : undefined}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <div id={`${id}-faults`} role="alert">
        <ul class="c-faults">
          {shown.map(({ message, span }) => {
            const { line, column } = lineOf(value, span?.start ?? 0);
            return (
              <li key={message}>
                {message}{' '}
                {span && (
                  <button type="button" onClick={() => goTo(span)}>
                    {words.place(line, column)}
                  </button>
                )}
              </li>
            );
          })}
        </ul>
      </div>
    </div>
  );
}
