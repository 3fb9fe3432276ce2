/** Loads screens on demand, which keeps the first load small. */
import { Notice } from '@inlay/ui/parts/notice.tsx';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Bones } from '../parts/page.tsx';
import type { Place, Screen } from '../router/router.ts';
import { words } from '../words/words.ts';

type Shown = ComponentType<{ place: Place }>;

const loaders: Record<Screen, () => Promise<Shown>> = {
  overview: async () => (await import('./overview/overview.tsx')).OverviewScreen,
  customers: async () => (await import('./customers/customers.tsx')).CustomersScreen,
  customer: async () => (await import('./customer/customer.tsx')).CustomerScreen,
  connections: async () => (await import('./connections/connections.tsx')).ConnectionsScreen,
  jobs: async () => (await import('./jobs/jobs.tsx')).JobsScreen,
  job: async () => (await import('./job/job.tsx')).JobScreen,
  templates: async () => (await import('./templates/templates.tsx')).TemplatesScreen,
  connectors: async () => (await import('./connectors/connectors.tsx')).ConnectorsScreen,
  playground: async () => (await import('./playground/playground.tsx')).PlaygroundScreen,
  events: async () => (await import('./events/events.tsx')).EventsScreen,
  webhooks: async () => (await import('./webhooks/webhooks.tsx')).WebhooksScreen,
  audit: async () => (await import('./audit/audit.tsx')).AuditScreen,
  workers: async () => (await import('./workers/workers.tsx')).WorkersScreen,
  health: async () => (await import('./health/health.tsx')).HealthScreen,
  tokens: async () => (await import('./tokens/tokens.tsx')).TokensScreen,
};
const loaded = new Map<Screen, Shown>();

export function ScreenOf({ place }: { place: Place }) {
  const [, setLoads] = useState(0);
  const [isMissing, setMissing] = useState(false);
  const { screen, id } = place;
  useEffect(() => {
    if (loaded.has(screen)) return;
    setMissing(false);
    loaders[screen]().then(
      (shown) => {
        loaded.set(screen, shown);
        setLoads((count) => count + 1);
      },
      // After an upgrade the files may have other names.
      () => setMissing(true),
    );
  }, [screen]);
  const Shown = loaded.get(screen);
  if (isMissing && !Shown) return <Notice kind="danger" title={words.shell.pageMissing} />;
  return Shown ? <Shown place={place} key={`${screen} ${id}`} /> : <Bones />;
}
