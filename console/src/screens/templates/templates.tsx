/** Source and connection templates, with how often each is used. */
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { ConnectorName } from '../../parts/connector-icon.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Empty, Page, Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { words as common } from '../../words/words.ts';
import { type AnyTemplate, type Kind, kindOf, kinds, nameOf, routesOf } from './kinds.ts';
import { NewTemplate } from './new-template.tsx';
import { OneTemplate } from './one-template.tsx';
import { words } from './words.ts';

export function TemplatesScreen({ place }: { place: Place }) {
  const kind = kindOf(place.query.get('kind'));
  if (place.id === 'new') return <NewTemplate kind={kind} definitionId={place.query.get('definition') ?? ''} />;
  if (place.id) return <OneTemplate kind={kind} id={place.id} isCreated={place.query.has('created')} />;
  return (
    <Page title={words.title}>
      <TemplateList kind="source" />
      <TemplateList kind="connection" />
    </Page>
  );
}

function TemplateList({ kind }: { kind: Kind }) {
  const { mayWrite } = useConsole();
  const { data, error, reload } = useAnswer(requestTo(`GET ${routesOf[kind].templates}`), { live: () => true });
  const columns: Column<AnyTemplate>[] = [
    {
      title: words.name,
      isWide: true,
      cell: (template) => (
        <Link to={pathTo('templates', template.id, { kind })}>
          <ConnectorName name={nameOf(kind, template)} icon={template.icon} />
        </Link>
      ),
    },
    { title: words.tags, cell: ({ tags }) => <Tags tags={tags} /> },
    { title: words.uses, isNumber: true, cell: ({ id }) => <Uses kind={kind} id={id} /> },
    { title: words.version, isNumber: true, cell: ({ version }) => formatting.number(version) },
    { title: words.updated, cell: ({ updated_at }) => <When time={updated_at} /> },
  ];
  const choose = mayWrite && (
    <Link
      to={pathTo('connectors', undefined, kind === 'connection' ? { type: 'destination' } : {})}
      class="inlay-button inlay-button-secondary"
    >
      <span>{words.choose[kind]}</span>
    </Link>
  );
  const isEmpty = data?.data.length === 0;
  return (
    <Panel title={words.kinds[kind]} beside={!isEmpty && choose}>
      <p class="c-panel-text c-muted">{words.kindHints[kind]}</p>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {isEmpty && <Empty title={words.none[kind]}>{choose}</Empty>}
      {data && !isEmpty && <Table label={words.kinds[kind]} rows={data.data} columns={columns} idOf={({ id }) => id} />}
    </Panel>
  );
}

function Tags({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return <span class="c-muted">{common.none}</span>;
  return (
    <span class="c-tags">
      {tags.map((tag) => (
        <span class="c-tag" key={tag}>
          {tag}
        </span>
      ))}
    </span>
  );
}

/** The count stops here to stay fast. The linked list has them all. */
const counted = 100;

function Uses({ kind, id }: { kind: Kind; id: string }) {
  const filter = kinds[kind].usesFilter;
  const { data } = useAnswer(requestTo(`GET ${routesOf[kind].uses}`, { query: { [filter]: id, limit: counted } }));
  if (!data) return <span class="c-muted">{common.none}</span>;
  const uses = data.data.length;
  return (
    <Link to={pathTo('connections', undefined, { [filter]: id })}>
      {data.next ? words.atLeast(uses) : formatting.number(uses)}
    </Link>
  );
}
