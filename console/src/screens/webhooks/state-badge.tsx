/** An endpoint's status. */
import type { WebhookEndpoint } from '@inlay/contract/log/webhook-endpoints';
import { Glyph, type GlyphName } from '@inlay/ui/parts/glyph.tsx';
import { words } from './words.ts';

const looks: Record<'enabled' | 'disabled' | 'failing', { kind: string; glyph: GlyphName }> = {
  enabled: { kind: 'success', glyph: 'check' },
  disabled: { kind: 'neutral', glyph: 'pause' },
  failing: { kind: 'danger', glyph: 'alert' },
};

export function StateBadge({ endpoint: { enabled, failing_since } }: { endpoint: WebhookEndpoint }) {
  const state = !enabled ? 'disabled' : failing_since ? 'failing' : 'enabled';
  const { kind, glyph } = looks[state];
  return (
    <span class={`inlay-badge inlay-badge-${kind}`}>
      <Glyph name={glyph} />
      {words.states[state]}
    </span>
  );
}
