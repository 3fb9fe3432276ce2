/** States as badges. Each has an icon as well, because not everyone can distinguish the colors. */
import type { HealthState } from '@inlay/contract/pipelines/health';
import { Glyph, type GlyphName, Spinner } from '@inlay/ui/parts/glyph.tsx';
import { words } from '../words/words.ts';
import { HowLong } from './when.tsx';

type Kind = 'neutral' | 'danger' | 'warning' | 'success' | 'active';
type Look = { kind: Kind; glyph?: GlyphName };

const healthLooks: Record<HealthState, Look> = {
  healthy: { kind: 'success', glyph: 'check' },
  running: { kind: 'active' },
  failing: { kind: 'danger', glyph: 'alert' },
  needs_attention: { kind: 'warning', glyph: 'alert' },
  paused: { kind: 'neutral', glyph: 'pause' },
  never_synced: { kind: 'neutral', glyph: 'clock' },
};

const jobLooks: Record<string, Look> = {
  pending: { kind: 'neutral', glyph: 'clock' },
  running: { kind: 'active' },
  incomplete: { kind: 'warning', glyph: 'sync' },
  failed: { kind: 'danger', glyph: 'alert' },
  succeeded: { kind: 'success', glyph: 'check' },
  cancelled: { kind: 'neutral', glyph: 'close' },
  interrupted: { kind: 'neutral', glyph: 'pause' },
};

function Badge({ look: { kind, glyph }, text }: { look: Look; text: string }) {
  return (
    <span class={`inlay-badge inlay-badge-${kind}`}>
      {glyph ? <Glyph name={glyph} /> : <Spinner />}
      {text}
    </span>
  );
}

/** `since`: reads as "Failing for 22 minutes". */
export function HealthBadge({ state, since }: { state: HealthState; since?: string | null }) {
  const badge = <Badge look={healthLooks[state]} text={words.health[state]} />;
  if (!since) return badge;
  return (
    <span class="c-health">
      {badge}{' '}
      <span class="c-muted">
        {words.lasting.anyState} <HowLong since={since} />
      </span>
    </span>
  );
}

export function JobBadge({ status }: { status: string }) {
  const { jobStatus, job } = words;
  const text = status === 'interrupted' ? job.interrupted : jobStatus[status as keyof typeof jobStatus];
  return <Badge look={jobLooks[status] ?? { kind: 'neutral', glyph: 'clock' }} text={text ?? status} />;
}

export function StatusBadge({ status }: { status: 'active' | 'inactive' }) {
  const isActive = status === 'active';
  const look: Look = isActive ? { kind: 'success', glyph: 'check' } : { kind: 'neutral', glyph: 'pause' };
  return <Badge look={look} text={words.status[status]} />;
}
