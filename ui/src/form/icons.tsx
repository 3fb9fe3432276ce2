/**
 * Icons in the color of the text. Words beside them or the name of their button say the same, so screen readers skip
 * them.
 */
import type { ComponentChildren } from 'preact';

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg class="inlay-form-icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
      <g fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">
        {children}
      </g>
    </svg>
  );
}

export const EyeIcon = () => (
  <Icon>
    <path d="M1.8 10S4.8 4.4 10 4.4 18.2 10 18.2 10 15.2 15.6 10 15.6 1.8 10 1.8 10Z" />
    <circle cx="10" cy="10" r="2.4" />
  </Icon>
);

export const EyeOffIcon = () => (
  <Icon>
    <path d="M4.4 6.3A13.4 13.4 0 0 0 1.8 10S4.8 15.6 10 15.6a8 8 0 0 0 3.7-.9M7.8 4.7A8.6 8.6 0 0 1 10 4.4c5.2 0 8.2 5.6 8.2 5.6a13.8 13.8 0 0 1-2 2.7" />
    <path d="M8.3 8.3a2.4 2.4 0 0 0 3.4 3.4M2.5 2.5l15 15" />
  </Icon>
);

export const UndoIcon = () => (
  <Icon>
    <path d="M7 4 3.5 7.5 7 11" />
    <path d="M3.5 7.5h8a4.5 4.5 0 0 1 0 9H8" />
  </Icon>
);

export const PlusIcon = () => (
  <Icon>
    <path d="M10 4.5v11M4.5 10h11" />
  </Icon>
);

export const CrossIcon = () => (
  <Icon>
    <path d="m5.5 5.5 9 9M14.5 5.5l-9 9" />
  </Icon>
);

export const FaultIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="7.2" />
    <path d="M10 6.2v4.6M10 13.6v.1" />
  </Icon>
);

export const CheckIcon = () => (
  <Icon>
    <path d="m4.5 10.5 3.7 3.7 7.3-8" />
  </Icon>
);

export const ChevronIcon = () => (
  <Icon>
    <path d="m7.5 5 5 5-5 5" />
  </Icon>
);
