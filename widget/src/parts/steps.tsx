/** A vertical list of completed, current and upcoming steps. */

import { Glyph, Spinner } from '@inlay/ui/parts/glyph.tsx';
import type { ComponentChildren } from 'preact';
import { useWords } from '../words/words.ts';

export interface Step {
  title: string;
  state: 'waiting' | 'active' | 'done' | 'failed';
  detail?: ComponentChildren;
}

export function Steps({ steps }: { steps: readonly Step[] }) {
  const words = useWords().steps;
  return (
    <ol class="inlay-steps" aria-label={words.label}>
      {steps.map(({ title, state, detail }, index) => (
        <li class={`inlay-step inlay-step-${state}`} key={index} aria-current={state === 'active' ? 'step' : undefined}>
          <span class="inlay-step-mark">
            {state === 'active' && <Spinner />}
            {state === 'done' && <Glyph name="check" />}
            {state === 'failed' && <Glyph name="alert" />}
          </span>
          <div class="inlay-step-body">
            <span class="inlay-step-title">
              {title}
              {(state === 'done' || state === 'failed') && <span class="inlay-unseen"> ({words[state]})</span>}
            </span>
            {detail && <div class="inlay-step-detail">{detail}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}
