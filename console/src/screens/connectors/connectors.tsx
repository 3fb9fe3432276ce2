/** The connector catalog, including the operator's custom connectors. */
import type { Connector } from '@inlay/contract/catalog/definitions';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { ConnectorName } from '../../parts/connector-icon.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Empty, Page } from '../../parts/page.tsx';
import { Choice, Filters, Search } from '../../parts/tables/filters.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { words as common } from '../../words/words.ts';
import { ManifestDialog } from './manifest-dialog.tsx';
import { OneConnector } from './one-connector.tsx';
import { words } from './words.ts';

export function ConnectorsScreen({ place }: { place: Place }) {
  const type = place.query.get('type') === 'destination' ? 'destination' : 'source';
  return place.id ? <OneConnector id={place.id} type={type} /> : <Catalogue place={place} type={type} />;
}

function Catalogue({ place, type }: { place: Place; type: Connector['type'] }) {
  const { mayWrite } = useConsole();
  const [isAdding, setAdding] = useState(false);
  const { data, error, reload } = useAnswer(
    requestTo(`GET /integrations/definitions/${type}s`, { query: { name: place.query.get('name') ?? undefined } }),
  );
  // Not every platform or registry reports these. A column of dashes would be useless.
  const reported = (column: Column<Connector>, of: 'version' | 'support_level') =>
    data?.data.some((connector) => connector[of]) ? [column] : [];
  const columns: Column<Connector>[] = [
    {
      title: words.name,
      isWide: true,
      cell: ({ id, name, icon }) => (
        <Link to={pathTo('connectors', id, type === 'destination' ? { type } : {})}>
          <ConnectorName name={name} icon={icon} />
        </Link>
      ),
    },
    ...reported({ title: words.version, cell: ({ version }) => version ?? common.none }, 'version'),
    ...reported({ title: words.support, cell: ({ support_level }) => support_level ?? common.none }, 'support_level'),
    { title: words.origin, cell: ({ custom }) => (custom ? words.own : words.catalogue) },
  ];
  return (
    <Page
      title={words.title}
      beside={
        mayWrite && (
          <Button kind="primary" glyph="plus" onClick={() => setAdding(true)}>
            {words.add}
          </Button>
        )
      }
    >
      <Filters place={place}>
        <Search place={place} name="name" label={words.search} />
        <Choice place={place} name="type" label={words.type} options={words.types} />
      </Filters>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones rows={8} />}
      {data?.data.length === 0 && <Empty title={common.list.nothing} />}
      {data && data.data.length > 0 && (
        <Table label={words.types[type]} rows={data.data} columns={columns} idOf={({ id }) => id} scope={type} />
      )}
      {isAdding && (
        <ManifestDialog
          title={words.add}
          text={words.addText}
          requestWith={(body) => requestTo('POST /integrations/definitions/sources', { body })}
          onClose={() => setAdding(false)}
          onDone={({ id }, goOn) => goOn(pathTo('connectors', id))}
        />
      )}
    </Page>
  );
}
