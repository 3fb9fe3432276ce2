/** One connector: its version, what it can be given, and of an own manifest which streams run. */
import type { ManifestAnswer, ReplacedSourceDefinition, SourceDefinition } from '@inlay/contract/definitions';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useState } from 'preact/hooks';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { DeleteDialog } from '../../parts/delete-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { FactList } from '../../parts/fields.tsx';
import { Bones, Page, Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { useWords } from '../../words/words.ts';
import { ManifestDialog } from './manifest-dialog.tsx';
import { connectorsWords } from './words.ts';

export function OneConnector({ id, type }: { id: string; type: 'source' | 'destination' }) {
  const words = connectorsWords.get();
  const common = useWords();
  const { mayWrite, announce, formatting } = useConsole();
  const path = `/integrations/definitions/${type}s/${encodeURIComponent(id)}`;
  const { data, error, reload } = useAnswer<SourceDefinition>({ method: 'GET', path });
  const [asked, setAsked] = useState<'replace' | 'delete' | undefined>(undefined);
  const close = () => setAsked(undefined);
  const { definition, manifest } = data ?? {};
  const documentationUrl = definition?.documentationUrl ?? '';
  return (
    <Page
      title={definition?.name ?? words.title}
      trail={<Link to={pathTo('connectors', undefined, type === 'destination' ? { type } : {})}>{words.title}</Link>}
      beside={
        mayWrite &&
        definition && (
          <div class="c-tools">
            {manifest && (
              <>
                <Button kind="danger" onClick={() => setAsked('delete')}>
                  {words.delete}
                </Button>
                <Button onClick={() => setAsked('replace')}>{words.replace}</Button>
              </>
            )}
            <Link
              class="inlay-button inlay-button-primary"
              to={pathTo('templates', 'new', { kind: type === 'source' ? 'source' : 'connection', definition: id })}
            >
              <span>{words.useIt}</span>
            </Link>
          </div>
        )
      }
    >
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {definition && (
        <>
          <FactList
            facts={[
              [words.version, manifest ? String(manifest.version) : (definition.dockerImageTag ?? common.none)],
              [words.support, definition.supportLevel ?? common.none],
              [words.origin, definition.custom ? words.own : words.catalogue],
              ...(documentationUrl.startsWith('https://')
                ? [
                    [
                      words.documentation,
                      <a class="c-link" href={documentationUrl} target="_blank" rel="noreferrer">
                        {documentationUrl}
                      </a>,
                    ] as const,
                  ]
                : []),
            ]}
          />
          {definition.documentation && <p>{definition.documentation}</p>}
          {manifest && <Streams manifest={manifest} />}
          <CodeBlock
            title={words.specification}
            text={JSON.stringify(definition.spec.connectionSpecification, null, 2)}
            copyLabel={words.copySpecification}
          />
        </>
      )}
      {asked === 'replace' && (
        <ManifestDialog<ReplacedSourceDefinition>
          title={words.replace}
          text={words.replaceText}
          method="PUT"
          path={path}
          onClose={close}
          onDone={({ sources }) => {
            close();
            announce(words.moved(formatting.number(sources.moved), formatting.number(sources.staying.length)));
            reload();
          }}
        />
      )}
      {asked === 'delete' && (
        <DeleteDialog
          title={words.delete}
          text={words.deleteText}
          path={path}
          said={words.deleted}
          to={pathTo('connectors')}
          onClose={close}
        />
      )}
    </Page>
  );
}

type Stream = ManifestAnswer['streams'][number];

function Streams({ manifest }: { manifest: ManifestAnswer }) {
  const words = connectorsWords.get();
  const common = useWords();
  const columns: Column<Stream>[] = [
    {
      title: words.stream,
      cell: ({ name, is_dynamic }) => (
        <>
          {name} {is_dynamic && <span class="c-muted">({words.dynamic})</span>}
        </>
      ),
    },
    { title: words.runs, cell: ({ is_left_out }) => (is_left_out ? words.leftOut : words.runsOk) },
    {
      title: words.problems,
      isWide: true,
      cell: ({ problems }) =>
        problems.length === 0 ? (
          <span class="c-muted">{common.none}</span>
        ) : (
          <ul>
            {problems.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                {path && <code>{path}</code>} {message}
              </li>
            ))}
          </ul>
        ),
    },
  ];
  return (
    <Panel title={words.streams}>
      <Table label={words.streams} rows={manifest.streams} columns={columns} idOf={({ name }) => name} />
      {manifest.warnings.length > 0 && (
        <Notice kind="warning" title={words.warnings}>
          <ul>
            {manifest.warnings.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                {path && <code>{path}</code>} {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </Panel>
  );
}
