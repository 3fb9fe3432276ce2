/** Versions of a custom connector: supported streams, the manifest, and restoring an earlier version. */
import type { ManifestStreamChange, SourceDefinitionVersionSummary } from '@inlay/contract/catalog/definition-versions';
import type { ReplacedSourceDefinition } from '@inlay/contract/catalog/definitions';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { InfoDialog } from '../../parts/dialogs/info-dialog.tsx';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones } from '../../parts/page.tsx';
import { ChangeList, VersionTable } from '../../parts/tables/version-table.tsx';
import { words as versionWords } from '../../parts/tables/version-words.ts';
import { formatting } from '../../words/formatting.ts';
import { words as common } from '../../words/words.ts';
import { Streams } from './streams.tsx';
import { words } from './words.ts';

interface VersionsProps {
  /** Id of the connector. */
  id: string;
  /** Changing it reloads the list, because versions and their sources may have changed. */
  edition: number;
  onRolledBack(answer: ReplacedSourceDefinition): void;
}

export function Versions({ id, edition, onRolledBack }: VersionsProps) {
  const { mayWrite } = useConsole();
  const [asked, setAsked] = useState<{ what: 'show' | 'restore'; version: number; isCurrent: boolean } | undefined>(
    undefined,
  );
  const close = () => setAsked(undefined);
  return (
    <>
      <VersionTable<SourceDefinitionVersionSummary>
        key={edition}
        list={requestTo('GET /integrations/definitions/sources/{source_definition_id}/versions', { ids: [id] })}
        changes={(row, isFirst) => <Changes row={row} isFirst={isFirst} />}
        columns={[
          {
            title: words.streams,
            cell: (row) => words.versions.counts(row.running_stream_count, row.left_out_stream_count),
          },
          {
            title: words.versions.sources,
            isNumber: true,
            cell: ({ source_count }) => formatting.number(source_count),
          },
        ]}
        actions={({ version, is_current: isCurrent }) => (
          <span class="c-pair">
            <Button
              onClick={() => setAsked({ what: 'show', version, isCurrent })}
              label={words.versions.showOf(version)}
            >
              {words.versions.show}
            </Button>
            {mayWrite && !isCurrent && (
              <Button
                onClick={() => setAsked({ what: 'restore', version, isCurrent })}
                label={versionWords.restoreOf(version)}
              >
                {versionWords.restore}
              </Button>
            )}
          </span>
        )}
      />
      {asked?.what === 'show' && (
        <OneVersion
          id={id}
          version={asked.version}
          onRestore={mayWrite && !asked.isCurrent ? () => setAsked({ ...asked, what: 'restore' }) : undefined}
          onClose={close}
        />
      )}
      {asked?.what === 'restore' && (
        <RequestDialog
          title={versionWords.restoreOf(asked.version)}
          text={words.versions.restoreText}
          label={versionWords.restore}
          request={requestTo('POST /integrations/definitions/sources/{source_definition_id}/rollback', {
            ids: [id],
            body: { version: asked.version },
          })}
          onClose={close}
          onDone={(answer) => {
            close();
            onRolledBack(answer);
          }}
        />
      )}
    </>
  );
}

/** Fits a cell. The version's dialog lists all streams. */
const shownChanges = 6;

function Changes({ row, isFirst }: { row: SourceDefinitionVersionSummary; isFirst: boolean }) {
  if (row.changes.length === 0)
    return <span class="c-muted">{isFirst ? versionWords.first : words.versions.same}</span>;
  const said = ({ before, after }: ManifestStreamChange) => {
    if (!after) return words.versions.gone;
    return before
      ? `${words.versions.states[before]} → ${words.versions.states[after]}`
      : words.versions.added(words.versions.states[after]);
  };
  const rest = row.change_count - shownChanges;
  return (
    <>
      <ChangeList
        changes={row.changes.slice(0, shownChanges).map((change) => ({ name: change.stream, what: said(change) }))}
      />
      {rest > 0 && <span class="c-muted">{words.versions.more(rest)}</span>}
    </>
  );
}

interface OneVersionProps {
  id: string;
  version: number;
  onRestore: (() => void) | undefined;
  onClose(): void;
}

function OneVersion({ id, version, onRestore, onClose }: OneVersionProps) {
  const { data, error, reload } = useAnswer(
    requestTo('GET /integrations/definitions/sources/{source_definition_id}/versions/{version}', {
      ids: [id, version],
    }),
  );
  return (
    <InfoDialog
      title={words.versions.one(version)}
      isWide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{common.close}</Button>
          {onRestore && (
            <Button kind="primary" onClick={onRestore}>
              {versionWords.restore}
            </Button>
          )}
        </>
      }
    >
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {data && (
        <>
          <Streams manifest={data} level={3} />
          <CodeBlock
            title={words.manifest}
            text={JSON.stringify(data.content, null, 2)}
            copyLabel={words.versions.copyManifest}
            level={3}
          />
        </>
      )}
    </InfoDialog>
  );
}
