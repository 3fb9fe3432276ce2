/** What a template was before: every version with what it changed, and the way back to it. */
import type { TemplateVersionList, TemplateVersionSummary } from '@inlay/contract/template-versions';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { ChoiceField } from '../../parts/fields.tsx';
import { Bones, Panel } from '../../parts/page.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { useWords } from '../../words/words.ts';
import { templatesWords } from './words.ts';

interface VersionsProps {
  path: string;
  onRolledBack(): void;
}

const shown = 20;

export function Versions({ path, onRolledBack }: VersionsProps) {
  const words = templatesWords.get();
  const common = useWords();
  const { mayWrite, formatting, announce } = useConsole();
  const [chosen, setChosen] = useState<number | undefined>(undefined);
  const [apply, setApply] = useState('all');
  // What the pages before ended with; the newest page has none.
  const [trail, setTrail] = useState<readonly string[]>([]);
  const cursor = trail.at(-1);
  const { data, error, reload } = useAnswer<TemplateVersionList>({
    method: 'GET',
    path: `${path}/versions`,
    query: { limit: shown, cursor },
  });
  const columns: Column<TemplateVersionSummary>[] = [
    {
      title: words.version,
      cell: ({ version, is_current, copy_of }) => (
        <span>
          {formatting.number(version)}
          {is_current && <span class="c-muted"> · {words.versions.current}</span>}
          {copy_of !== null && <span class="c-muted"> · {words.versions.copyOf(formatting.number(copy_of))}</span>}
        </span>
      ),
    },
    { title: words.versions.changes, isWide: true, cell: ({ changes }) => <Changes changes={changes} /> },
    { title: words.versions.by, cell: ({ created_by }) => created_by?.name ?? common.none },
    { title: words.updated, cell: ({ created_at }) => <When time={created_at} /> },
    ...(mayWrite
      ? [
          {
            title: common.customer.actions,
            cell: ({ version, is_current }: TemplateVersionSummary) =>
              is_current ? null : (
                <Button onClick={() => setChosen(version)} label={words.versions.backTo(formatting.number(version))}>
                  {words.versions.back}
                </Button>
              ),
          },
        ]
      : []),
  ];
  return (
    <Panel title={words.versions.title}>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones rows={2} />}
      {data && (
        <Table
          label={words.versions.title}
          rows={data.data}
          columns={columns}
          idOf={({ version }) => String(version)}
          scope={cursor ?? ''}
        />
      )}
      {data && (data.next || trail.length > 0) && (
        <div class="c-tools c-panel-text">
          {trail.length > 0 && <Button onClick={() => setTrail(trail.slice(0, -1))}>{words.versions.newer}</Button>}
          {data.next && <Button onClick={() => setTrail([...trail, data.next ?? ''])}>{words.versions.older}</Button>}
        </div>
      )}
      {chosen !== undefined && (
        <RequestDialog
          title={words.versions.backTo(formatting.number(chosen))}
          text={words.versions.backText}
          label={words.versions.back}
          request={{ method: 'POST', path: `${path}/rollback`, body: { version: chosen, apply } }}
          onClose={() => setChosen(undefined)}
          onDone={() => {
            setChosen(undefined);
            setTrail([]);
            announce(words.saved);
            onRolledBack();
          }}
        >
          <ChoiceField label={words.whom} value={apply} options={words.applies} onInput={setApply} />
        </RequestDialog>
      )}
    </Panel>
  );
}

function Changes({ changes }: Pick<TemplateVersionSummary, 'changes'>) {
  const words = templatesWords.get().versions;
  if (changes.length === 0) return <span class="c-muted">{words.first}</span>;
  return (
    <ul class="t-changes">
      {changes.map(({ path, before, after }) => (
        <li key={path.join('.')}>
          <code>{path.join('.')}</code>
          <span class="c-value">
            {short(before)} → {short(after)}
          </span>
        </li>
      ))}
    </ul>
  );
}

const longest = 80;

function short(value: unknown): string {
  const text = value === undefined ? '–' : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
