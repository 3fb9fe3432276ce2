/** What an own connector was before: every version with what of it runs, its manifest to read, and the way back to it. */
import type {
  ManifestStreamChange,
  SourceDefinitionVersion,
  SourceDefinitionVersionSummary,
} from '@inlay/contract/definition-versions';
import type { ReplacedSourceDefinition } from '@inlay/contract/definitions';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { InfoDialog } from '../../parts/info-dialog.tsx';
import { Bones } from '../../parts/page.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { ChangeList, VersionTable } from '../../parts/version-table.tsx';
import { versionWords } from '../../parts/version-words.ts';
import { counted } from '../../words/counted.ts';
import { useWords } from '../../words/words.ts';
import { Streams } from './streams.tsx';
import { connectorsWords } from './words.ts';

interface VersionsProps {
  /** Of the connector. */
  path: string;
  /** Another one shows the versions anew: there may be more of them, and sources may have others. */
  edition: number;
  onRolledBack(answer: ReplacedSourceDefinition): void;
}

export function Versions({ path, edition, onRolledBack }: VersionsProps) {
  const words = connectorsWords.get();
  const { mayWrite, formatting } = useConsole();
  const [asked, setAsked] = useState<{ what: 'show' | 'again'; version: number; isCurrent: boolean } | undefined>(
    undefined,
  );
  const close = () => setAsked(undefined);
  return (
    <>
      <VersionTable<SourceDefinitionVersionSummary>
        key={edition}
        path={`${path}/versions`}
        changes={(row, isFirst) => <Changes row={row} isFirst={isFirst} />}
        columns={[
          {
            title: words.streams,
            cell: (row) =>
              words.versions.counts(
                counted(formatting, row.running_stream_count),
                counted(formatting, row.left_out_stream_count),
              ),
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
              label={words.versions.showOf(formatting.number(version))}
            >
              {words.versions.show}
            </Button>
            {mayWrite && !isCurrent && (
              <Button
                onClick={() => setAsked({ what: 'again', version, isCurrent })}
                label={words.versions.againLabel(formatting.number(version))}
              >
                {words.versions.againShort}
              </Button>
            )}
          </span>
        )}
      />
      {asked?.what === 'show' && (
        <OneVersion
          path={path}
          version={asked.version}
          onAgain={mayWrite && !asked.isCurrent ? () => setAsked({ ...asked, what: 'again' }) : undefined}
          onClose={close}
        />
      )}
      {asked?.what === 'again' && (
        <RequestDialog<ReplacedSourceDefinition>
          title={words.versions.againOf(formatting.number(asked.version))}
          text={words.versions.againText}
          label={words.versions.again}
          request={{ method: 'POST', path: `${path}/rollback`, body: { version: asked.version } }}
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

/** A cell has room for so many; the version itself shows all of its streams. */
const shownChanges = 6;

function Changes({ row, isFirst }: { row: SourceDefinitionVersionSummary; isFirst: boolean }) {
  const words = connectorsWords.get().versions;
  const { formatting } = useConsole();
  if (row.changes.length === 0) return <span class="c-muted">{isFirst ? versionWords.get().first : words.same}</span>;
  const said = ({ before, after }: ManifestStreamChange) => {
    if (!after) return words.gone;
    return before ? `${words.states[before]} → ${words.states[after]}` : words.added(words.states[after]);
  };
  const rest = row.change_count - shownChanges;
  return (
    <>
      <ChangeList
        changes={row.changes.slice(0, shownChanges).map((change) => ({ name: change.stream, what: said(change) }))}
      />
      {rest > 0 && <span class="c-muted">{words.more(formatting.number(rest))}</span>}
    </>
  );
}

interface OneVersionProps {
  path: string;
  version: number;
  onAgain: (() => void) | undefined;
  onClose(): void;
}

function OneVersion({ path, version, onAgain, onClose }: OneVersionProps) {
  const words = connectorsWords.get();
  const common = useWords();
  const { formatting } = useConsole();
  const { data, error, reload } = useAnswer<SourceDefinitionVersion>({
    method: 'GET',
    path: `${path}/versions/${version}`,
  });
  return (
    <InfoDialog
      title={words.versions.one(formatting.number(version))}
      isWide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{common.close}</Button>
          {onAgain && (
            <Button kind="primary" onClick={onAgain}>
              {words.versions.again}
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
