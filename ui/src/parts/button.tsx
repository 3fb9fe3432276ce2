/** The one button of widget and console. While it is busy it stays where it is and keeps the focus, but does nothing. */
import type { ComponentChildren, Ref } from 'preact';
import { Glyph, type GlyphName, Spinner } from './glyph.tsx';

export interface ButtonProps {
  children: ComponentChildren;
  kind?: 'primary' | 'secondary' | 'quiet' | 'danger';
  type?: 'button' | 'submit';
  /** The id of the form that the button submits, when the button is outside of it. */
  form?: string;
  glyph?: GlyphName;
  isBusy?: boolean;
  label?: string;
  /** The id of an element that says more. */
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
      // Unlike `disabled`, this leaves the focus where it is.
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
