/** The frame of a screen. Its heading gets the focus after navigation. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { words } from '../words/words.ts';

export interface PageProps {
  title: string;
  /** Breadcrumbs above the title. */
  trail?: ComponentChildren;
  beside?: ComponentChildren;
  children: ComponentChildren;
}

let hasMoved = false;

export function Page({ title, trail, beside, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Before the paint, so that an early key press reaches the new screen.
  useLayoutEffect(() => {
    // Not on the first screen, where the browser starts at the top.
    if (hasMoved) heading.current?.focus({ preventScroll: true });
    hasMoved = true;
  }, []);
  useEffect(() => {
    document.title = `${title} · Inlay ${words.productConsole}`;
  }, [title]);
  return (
    <>
      <div class="c-page-head">
        <div class="c-page-title">
          {trail && <p class="c-trail">{trail}</p>}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
        </div>
        {beside}
      </div>
      {children}
    </>
  );
}

export function Panel({
  title,
  beside,
  children,
  level = 2,
}: {
  title: string;
  beside?: ComponentChildren;
  children: ComponentChildren;
  level?: 2 | 3;
}) {
  const Heading = `h${level}` as const;
  return (
    <section class="c-panel">
      <div class="c-panel-head">
        <Heading>{title}</Heading>
        {beside}
      </div>
      {children}
    </section>
  );
}

export function Bones({ rows = 4 }: { rows?: number }) {
  return (
    <div class="c-bones" role="status">
      <span class="inlay-unseen">{words.loading}</span>
      {Array.from({ length: rows }, (_, index) => (
        <span class="inlay-bone" aria-hidden="true" key={index} />
      ))}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="c-empty">
      <p class="c-empty-title">{title}</p>
      {children}
    </div>
  );
}
