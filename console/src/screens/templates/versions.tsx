/** Versions of a template with what each changed, and restoring one. */
import type { TemplateVersionSummary } from '@inlay/contract/catalog/template-versions';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useConsole } from '../../console.ts';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { ChoiceField } from '../../parts/fields.tsx';
import { ChangeList, VersionTable } from '../../parts/tables/version-table.tsx';
import { words as versionWords } from '../../parts/tables/version-words.ts';
import { type Kind, routesOf } from './kinds.ts';
import { words } from './words.ts';

interface VersionsProps {
  kind: Kind;
  /** Id of the template. */
  id: string;
  onRolledBack(): void;
}

/** The parent changes the key when the template gets a version, which reloads the list. */
export function Versions({ kind, id, onRolledBack }: VersionsProps) {
  const { mayWrite, announce } = useConsole();
  const { template } = routesOf[kind];
  const [chosen, setChosen] = useState<number | undefined>(undefined);
  const [apply, setApply] = useState<'all' | 'new_only'>('all');
  const actions = ({ version, is_current }: TemplateVersionSummary) =>
    is_current ? null : (
      <Button onClick={() => setChosen(version)} label={versionWords.restoreOf(version)}>
        {versionWords.restore}
      </Button>
    );
  return (
    <>
      <VersionTable<TemplateVersionSummary>
        list={requestTo(`GET ${template}/versions`, { ids: [id] })}
        changes={({ changes }) => <Changes changes={changes} />}
        actions={mayWrite ? actions : undefined}
      />
      {chosen !== undefined && (
        <RequestDialog
          title={versionWords.restoreOf(chosen)}
          text={words.restoreText}
          label={versionWords.restore}
          request={requestTo(`POST ${template}/rollback`, { ids: [id], body: { version: chosen, apply } })}
          onClose={() => setChosen(undefined)}
          onDone={() => {
            setChosen(undefined);
            announce(words.saved);
            onRolledBack();
          }}
        >
          <ChoiceField label={words.whom} value={apply} options={words.applies} onInput={setApply} />
        </RequestDialog>
      )}
    </>
  );
}

function Changes({ changes }: Pick<TemplateVersionSummary, 'changes'>) {
  if (changes.length === 0) return <span class="c-muted">{versionWords.first}</span>;
  return (
    <ChangeList
      changes={changes.map(({ path, before, after }) => ({
        name: path.join('.'),
        what: (
          <span class="c-value">
            {short(before)} → {short(after)}
          </span>
        ),
      }))}
    />
  );
}

const longest = 80;

function short(value: unknown): string {
  const text = value === undefined ? '–' : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
