/** What a template was before: every version with what it changed, and the way back to it. */
import type { TemplateVersionSummary } from '@inlay/contract/template-versions';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { useConsole } from '../../console.ts';
import { ChoiceField } from '../../parts/fields.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { ChangeList, VersionTable } from '../../parts/version-table.tsx';
import { versionWords } from '../../parts/version-words.ts';
import { templatesWords } from './words.ts';

interface VersionsProps {
  path: string;
  onRolledBack(): void;
}

/** Shown anew, with another key, when the template has another version. */
export function Versions({ path, onRolledBack }: VersionsProps) {
  const words = templatesWords.get();
  const { mayWrite, formatting, announce } = useConsole();
  const [chosen, setChosen] = useState<number | undefined>(undefined);
  const [apply, setApply] = useState('all');
  const actions = ({ version, is_current }: TemplateVersionSummary) =>
    is_current ? null : (
      <Button onClick={() => setChosen(version)} label={words.versions.backTo(formatting.number(version))}>
        {words.versions.back}
      </Button>
    );
  return (
    <>
      <VersionTable<TemplateVersionSummary>
        path={`${path}/versions`}
        changes={({ changes }) => <Changes changes={changes} />}
        actions={mayWrite ? actions : undefined}
      />
      {chosen !== undefined && (
        <RequestDialog
          title={words.versions.backTo(formatting.number(chosen))}
          text={words.versions.backText}
          label={words.versions.back}
          request={{ method: 'POST', path: `${path}/rollback`, body: { version: chosen, apply } }}
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
  if (changes.length === 0) return <span class="c-muted">{versionWords.get().first}</span>;
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
