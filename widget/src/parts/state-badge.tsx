/** The state of a source, with an icon in addition to its color. */

import { Glyph, type GlyphName, Spinner } from '@inlay/ui/parts/glyph.tsx';
import type { SourceState } from '../sources/progress.ts';
import { useWords } from '../words/words.ts';

const looks: Record<SourceState, { kind: 'neutral' | 'danger' | 'warning' | 'success' | 'active'; glyph?: GlyphName }> =
  {
    pending: { kind: 'neutral' },
    failed: { kind: 'danger', glyph: 'alert' },
    syncing: { kind: 'active' },
    sync_failed: { kind: 'warning', glyph: 'alert' },
    paused: { kind: 'neutral', glyph: 'pause' },
    ready: { kind: 'success', glyph: 'check' },
  };

export function StateBadge({ state }: { state: SourceState }) {
  const { kind, glyph } = looks[state];
  return (
    <span class={`inlay-badge inlay-badge-${kind}`}>
      {glyph ? <Glyph name={glyph} /> : <Spinner />}
      {useWords().states[state]}
    </span>
  );
}
