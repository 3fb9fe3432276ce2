/** Placeholders in the shape of the coming content, so that nothing jumps when the content arrives. */
import type { ComponentChildren } from 'preact';
import { useWords } from '../words/words.ts';

function Loading({ children }: { children: ComponentChildren }) {
  return (
    <div class="inlay-skeleton" role="status">
      <span class="inlay-unseen">{useWords().loading}</span>
      <div aria-hidden="true">{children}</div>
    </div>
  );
}

export function FormSkeleton() {
  return (
    <Loading>
      {[0, 1, 2].map((index) => (
        <div class="inlay-field" key={index}>
          <span class="inlay-bone inlay-bone-label" />
          <span class="inlay-bone inlay-bone-control" />
        </div>
      ))}
      <span class="inlay-bone inlay-bone-button" />
    </Loading>
  );
}

export function CardsSkeleton() {
  return (
    <Loading>
      <span class="inlay-bone inlay-bone-heading" />
      <div class="inlay-cards">
        {[0, 1, 2, 3, 4, 5].map((index) => (
          <span class="inlay-bone inlay-bone-card" key={index} />
        ))}
      </div>
    </Loading>
  );
}

export function RowsSkeleton() {
  return (
    <Loading>
      {[0, 1, 2].map((index) => (
        <span class="inlay-bone inlay-bone-row" key={index} />
      ))}
    </Loading>
  );
}
