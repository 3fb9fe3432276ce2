/**
 * The setup guide, up to a customer's first rows. The API says whether each step is done, and each step links to its screen.
 * The guide disappears when rows have arrived, or when the user hides it in this browser.
 */
import type { HealthCounts, Overview } from '@inlay/contract/pipelines/overview';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { Bones, Panel } from '../../parts/page.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { read, write } from '../../scheme.ts';
import { words } from './words.ts';

const WidgetLink = lazyPart(async () => (await import('./widget-link.tsx')).WidgetLink);

const total = (counts: HealthCounts) => Object.values(counts).reduce((sum, count) => sum + count, 0);
const live = { live: () => true };
const hidden = 'hidden';

interface FirstStepsProps {
  overview: Overview;
  onChanged(): void;
  /** Shown instead of the guide while it is hidden. */
  children?: ComponentChildren;
  /** Rendered together with the guide, so that the guide does not push it down when it loads. */
  below?: ComponentChildren;
}

export function FirstSteps({ overview, onChanged, children, below }: FirstStepsProps) {
  const { session, mayWrite } = useConsole();
  const key = `inlay-console-first-steps-${session.organization.id}`;
  const [isHidden, setHidden] = useState(() => read(key) === hidden);
  const [asked, setAsked] = useState<'add' | 'open' | undefined>(undefined);
  const hasCustomers = total(overview.workspaces) > 0;
  const destinations = useAnswer(requestTo('GET /integrations/templates/connections'), live);
  const sources = useAnswer(requestTo('GET /integrations/templates/sources'), live);
  const newest = useAnswer(
    hasCustomers ? requestTo('GET /integrations/workspaces', { query: { limit: 1 } }) : undefined,
  );
  const customer = newest.data?.data[0];
  const hide = (value: boolean) => {
    write(key, value ? hidden : '');
    setHidden(value);
  };
  if (isHidden) {
    return (
      <>
        {children}
        <p>
          <button type="button" class="c-link-button" onClick={() => hide(false)}>
            {words.show}
          </button>
        </p>
        {below}
      </>
    );
  }
  if (!destinations.data || !sources.data) {
    if (!destinations.error && !sources.error) return <Bones rows={6} />;
    return (
      <>
        {children}
        {below}
      </>
    );
  }
  const steps = [
    {
      name: 'destination',
      isDone: destinations.data.data.length > 0,
      action: <Way to={pathTo('connectors', undefined, { type: 'destination' })}>{words.chooseDestination}</Way>,
    },
    {
      name: 'source',
      isDone: sources.data.data.length > 0,
      action: <Way to={pathTo('connectors')}>{words.chooseSource}</Way>,
    },
    {
      name: 'customer',
      isDone: hasCustomers,
      action: (
        <Button kind="primary" onClick={() => setAsked('add')}>
          {words.addCustomer}
        </Button>
      ),
    },
    {
      name: 'connect',
      isDone: total(overview.sources) > 0,
      action: customer && (
        <Button kind="primary" onClick={() => setAsked('open')}>
          {words.openWidget}
        </Button>
      ),
    },
    { name: 'rows', isDone: false, action: <Way to={pathTo('jobs')}>{words.seeJobs}</Way> },
  ] as const;
  const next = steps.find(({ isDone }) => !isDone)?.name;
  return (
    <>
      <Panel
        title={words.title}
        beside={
          <button type="button" class="c-link-button" onClick={() => hide(true)}>
            {words.hide}
          </button>
        }
      >
        <p class="c-panel-text c-muted">{words.lead}</p>
        <ol class="c-steps">
          {steps.map(({ name, isDone, action }, index) => (
            <li class={isDone ? 'c-step-done' : undefined} aria-current={name === next ? 'step' : undefined} key={name}>
              <span class="c-step-mark" aria-hidden="true">
                {isDone ? <Glyph name="check" /> : index + 1}
              </span>
              <div class="c-step-body">
                <p class="c-step-title">
                  {words.steps[name].title}
                  {isDone && <span class="inlay-unseen"> ({words.done})</span>}
                </p>
                {!isDone && <p class="c-muted">{words.steps[name].text}</p>}
                {name === next && mayWrite && action}
              </div>
            </li>
          ))}
        </ol>
        {asked && (
          <WidgetLink
            customer={asked === 'open' ? customer?.name : undefined}
            onChanged={onChanged}
            onClose={() => setAsked(undefined)}
          />
        )}
      </Panel>
      {below}
    </>
  );
}

function Way({ to, children }: { to: string; children: ComponentChildren }) {
  return (
    <Link to={to} class="inlay-button inlay-button-primary">
      <span>{children}</span>
    </Link>
  );
}
