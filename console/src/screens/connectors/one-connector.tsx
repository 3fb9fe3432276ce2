/** One connector: its version, what it can be given, and of an own manifest which streams run and what it was before. */
import type { MovedSources, ReplacedSourceDefinition, SourceDefinition } from '@inlay/contract/definitions';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { DeleteDialog } from '../../parts/delete-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { FactList } from '../../parts/fields.tsx';
import { Bones, Page } from '../../parts/page.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { counted } from '../../words/counted.ts';
import { useWords } from '../../words/words.ts';
import { ManifestDialog } from './manifest-dialog.tsx';
import { MovedSourcesPanel } from './moved-sources.tsx';
import { Streams } from './streams.tsx';
import { Versions } from './versions.tsx';
import { connectorsWords } from './words.ts';

export function OneConnector({ id, type }: { id: string; type: 'source' | 'destination' }) {
  const words = connectorsWords.get();
  const common = useWords();
  const { mayWrite, announce, formatting } = useConsole();
  const path = `/integrations/definitions/${type}s/${encodeURIComponent(id)}`;
  const { data, error, reload } = useAnswer<SourceDefinition>({ method: 'GET', path });
  const [asked, setAsked] = useState<'replace' | 'delete' | undefined>(undefined);
  /** Of the last change on this page. */
  const [moves, setMoves] = useState<{ count: number; last?: MovedSources }>({ count: 0 });
  const close = () => setAsked(undefined);
  const onChanged = ({ sources }: ReplacedSourceDefinition) => {
    announce(words.moved(counted(formatting, sources.moved), counted(formatting, sources.staying.length)));
    setMoves(({ count }) => ({ count: count + 1, last: sources }));
    reload();
  };
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
              ...(definition.supportLevel ? [[words.support, definition.supportLevel] as const] : []),
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
          {moves.last && moves.last.staying.length > 0 && <MovedSourcesPanel {...moves.last} />}
          {manifest && <Streams manifest={manifest} />}
          {manifest && <Versions path={path} edition={moves.count} onRolledBack={onChanged} />}
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
          onDone={(answer) => {
            close();
            onChanged(answer);
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
