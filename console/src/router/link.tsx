/** A link to a screen. Opening it in a new tab or window still works. */
import type { ComponentChildren } from 'preact';
import { basePath, navigate } from './router.ts';

export interface LinkProps {
  to: string;
  children: ComponentChildren;
  class?: string;
  label?: string;
  isCurrent?: boolean;
}

export function Link({ to, children, class: className = 'c-link', label, isCurrent = false }: LinkProps) {
  return (
    <a
      class={className}
      href={basePath + to}
      aria-label={label}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={(event) => {
        if (event.defaultPrevented || event.button !== 0) return;
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}
