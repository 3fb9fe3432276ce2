/** One connector: version and configuration schema, and for a custom manifest its streams and earlier versions. */
import type { MovedSources, ReplacedSourceDefinition } from '@inlay/contract/catalog/definitions';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { DeleteDialog } from '../../parts/dialogs/delete-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { FactList } from '../../parts/fields.tsx';
import { Bones, Page } from '../../parts/page.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { words as common } from '../../words/words.ts';
import { ManifestDialog } from './manifest-dialog.tsx';
import { StayingSourcesPanel } from './staying-sources.tsx';
import { Streams } from './streams.tsx';
import { Versions } from './versions.tsx';
import { words } from './words.ts';

const routes = {
  source: 'GET /integrations/definitions/sources/{source_definition_id}',
  destination: 'GET /integrations/definitions/destinations/{destination_definition_id}',
} as const;

export function OneConnector({ id, type }: { id: string; type: 'source' | 'destination' }) {
  const { mayWrite, announce } = useConsole();
  const { data, error, reload } = useAnswer(requestTo(routes[type], { ids: [id] }));
  const [asked, setAsked] = useState<'replace' | 'delete' | undefined>(undefined);
  /** Results of the latest change on this page. */
  const [applied, setApplied] = useState<{ count: number; last?: MovedSources }>({ count: 0 });
  const close = () => setAsked(undefined);
  const onChanged = ({ sources }: ReplacedSourceDefinition) => {
    announce(words.moved(sources.moved, sources.staying.length));
    setApplied(({ count }) => ({ count: count + 1, last: sources }));
    reload();
  };
  const definition = data?.definition;
  const manifest = data && 'manifest' in data ? data.manifest : undefined;
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
          {applied.last && applied.last.staying.length > 0 && <StayingSourcesPanel {...applied.last} />}
          {manifest && <Streams manifest={manifest} />}
          {manifest && <Versions id={id} edition={applied.count} onRolledBack={onChanged} />}
          <CodeBlock
            title={words.specification}
            text={JSON.stringify(definition.spec.connectionSpecification, null, 2)}
            copyLabel={words.copySpecification}
          />
        </>
      )}
      {asked === 'replace' && (
        <ManifestDialog
          title={words.replace}
          text={words.replaceText}
          requestWith={(body) =>
            requestTo('PUT /integrations/definitions/sources/{source_definition_id}', { ids: [id], body })
          }
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
          request={requestTo('DELETE /integrations/definitions/sources/{source_definition_id}', { ids: [id] })}
          said={words.deleted}
          to={pathTo('connectors')}
          onClose={close}
        />
      )}
    </Page>
  );
}
