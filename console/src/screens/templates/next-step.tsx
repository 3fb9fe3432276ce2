/** After a template was created, links to the next step towards a customer's first rows. */
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { Bones } from '../../parts/page.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { type Kind, routesOf } from './kinds.ts';
import { words } from './words.ts';

const ways = {
  source: pathTo('connectors'),
  connection: pathTo('connectors', undefined, { type: 'destination' }),
  // The setup guide there adds a customer.
  customer: pathTo('overview'),
  widget: pathTo('playground'),
};

export function NextStep({ kind }: { kind: Kind }) {
  const other = kind === 'source' ? 'connection' : 'source';
  const templates = useAnswer(requestTo(`GET ${routesOf[other].templates}`));
  const customers = useAnswer(requestTo('GET /integrations/workspaces', { query: { limit: 1 } }));
  if (templates.error || customers.error) return <Notice kind="success" title={words.created} />;
  if (!templates.data || !customers.data) return <Bones rows={2} />;
  const step =
    templates.data.data.length === 0 ? other : customers.data.data.length === 0 ? ('customer' as const) : 'widget';
  return (
    <Notice
      kind="success"
      title={words.created}
      actions={
        <Link to={ways[step]} class="inlay-button inlay-button-primary">
          <span>{words.next[step].action}</span>
        </Link>
      }
    >
      <p>{words.next[step].text}</p>
    </Notice>
  );
}
