/** The overview's numbers. Each links to the list that it counts. */
import type { Overview } from '@inlay/contract/pipelines/overview';
import type { ComponentChildren } from 'preact';
import { HowLong } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { words as common } from '../../words/words.ts';

const words = common.overview;

export function Tiles({ overview: { workspaces, attention, stale, queue } }: { overview: Overview }) {
  const connections = (query: Record<string, string>) => pathTo('connections', undefined, query);
  return (
    <ul class="c-tiles">
      <Tile
        count={workspaces.failing}
        title={words.failingCustomers}
        tone="danger"
        to={pathTo('customers', undefined, { health: 'failing' })}
      />
      <Tile
        count={workspaces.needs_attention}
        title={words.attentionCustomers}
        tone="warning"
        to={pathTo('customers', undefined, { health: 'needs_attention' })}
      />
      <Tile
        count={attention.customer}
        title={words.needsCustomer}
        note={words.connections(attention.customer)}
        tone="warning"
        to={connections({ attention_by: 'customer' })}
      />
      <Tile
        count={attention.operator}
        title={words.needsYou}
        note={words.connections(attention.operator)}
        tone="warning"
        to={connections({ attention_by: 'operator' })}
      />
      <Tile
        count={stale}
        title={words.stale}
        note={words.staleHint}
        tone="warning"
        to={connections({ stale: 'true' })}
      />
      <Tile
        count={queue.waiting}
        title={words.waiting}
        note={queue.oldest_waiting_since && <UpTo since={queue.oldest_waiting_since} />}
        to={pathTo('jobs', undefined, { waiting: 'true' })}
      />
      <Tile count={queue.running} title={words.running} to={pathTo('jobs', undefined, { status: 'running' })} />
      <Tile
        count={workspaces.healthy}
        title={words.healthyCustomers}
        to={pathTo('customers', undefined, { health: 'healthy' })}
      />
    </ul>
  );
}

function UpTo({ since }: { since: string }) {
  return (
    <>
      {words.waitingUpTo} <HowLong since={since} />
    </>
  );
}

interface TileProps {
  count: number;
  title: string;
  note?: ComponentChildren;
  /** Applies only to a number other than zero. */
  tone?: 'danger' | 'warning';
  to: string;
}

function Tile({ count, title, note, tone, to }: TileProps) {
  return (
    <li>
      <Link to={to} class={`c-tile${tone && count > 0 ? ` c-tile-${tone}` : ''}`}>
        <span class="c-tile-title">{title}</span>
        <span class="c-tile-count">{formatting.number(count)}</span>
        <span class="c-tile-note">{note}</span>
      </Link>
    </li>
  );
}
