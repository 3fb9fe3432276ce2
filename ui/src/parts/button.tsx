/** The button of widget and console. While busy, it keeps its place and the focus but does nothing. */
import type { ComponentChildren, Ref } from 'preact';
import { Glyph, type GlyphName, Spinner } from './glyph.tsx';

export interface ButtonProps {
  children: ComponentChildren;
  kind?: 'primary' | 'secondary' | 'quiet' | 'danger';
  type?: 'button' | 'submit';
  /** Id of the form to submit, if the button is outside it. */
  form?: string;
  glyph?: GlyphName;
  isBusy?: boolean;
  label?: string;
  /** Id of the describing element. */
  describedBy?: string;
  buttonRef?: Ref<HTMLButtonElement>;
  onClick?(): void;
}

export function Button({
  children,
  kind = 'secondary',
  type = 'button',
  form,
  glyph,
  isBusy = false,
  ...props
}: ButtonProps) {
  const { label, describedBy, buttonRef, onClick } = props;
  return (
    <button
      type={type}
      class={`inlay-button inlay-button-${kind}`}
      ref={buttonRef ?? null}
      form={form}
      aria-label={label}
      aria-describedby={describedBy}
      // Unlike `disabled`, keeps the focus.
      aria-disabled={isBusy || undefined}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else onClick?.();
      }}
    >
      {isBusy ? <Spinner /> : glyph && <Glyph name={glyph} />}
      <span>{children}</span>
    </button>
  );
}
