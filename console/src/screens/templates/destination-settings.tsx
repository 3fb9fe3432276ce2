/** Settings of a connection template: name, schedule, placement of tables, and what customers may choose. */
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CheckField, ChoiceField, TextField } from '../../parts/fields.tsx';
import { formatting } from '../../words/formatting.ts';
import { changed, type Draft, valueAt } from './draft.ts';
import { TagsField } from './tags-field.tsx';
import { words } from './words.ts';

interface SettingsProps {
  draft: Draft;
  change(next: (draft: Draft) => Draft): void;
}

const hourly = '0 0 * * * ?';
const usualMinutes = 60;

export function DestinationSettings({ draft, change }: SettingsProps) {
  const { editor } = words;
  const set = (path: string[]) => (value: unknown) => change((before) => changed(before, path, value));
  const text = (name: string) => (typeof draft[name] === 'string' ? (draft[name] as string) : '');
  const cron = draft.cron_expression === undefined ? hourly : draft.cron_expression;
  const minutes = valueAt(draft, ['customer_may_change', 'schedule', 'shortest_minutes']);
  return (
    <>
      <TextField label={words.name} value={text('destination_name')} onInput={set(['destination_name'])} />
      <CheckField
        label={editor.onlyWhenAsked}
        isChecked={cron === null}
        onChange={(isManual) => set(['cron_expression'])(isManual ? null : hourly)}
      />
      {cron !== null && <Schedule value={String(cron)} onInput={set(['cron_expression'])} />}
      <CheckField
        label={editor.syncOnCreate}
        isChecked={draft.sync_on_create !== false}
        onChange={set(['sync_on_create'])}
      />
      <ChoiceField
        label={editor.schemaChanges}
        value={text('non_breaking_changes_preference') || 'ignore'}
        options={editor.schemaChange}
        onInput={set(['non_breaking_changes_preference'])}
      />
      <TextField
        label={editor.namespace}
        hint={editor.namespaceHint}
        value={text('namespace_format')}
        onInput={(value) => set(['namespace_format'])(value === '' ? null : value)}
      />
      <TextField
        label={editor.prefix}
        hint={editor.prefixHint}
        value={text('prefix')}
        onInput={(value) => set(['prefix'])(value === '' ? null : value)}
      />
      <CheckField
        label={editor.mayChooseStreams}
        isChecked={valueAt(draft, ['customer_may_change', 'streams']) === true}
        onChange={set(['customer_may_change', 'streams'])}
      />
      <CheckField
        label={editor.mayChooseSchedule}
        isChecked={minutes !== undefined}
        onChange={(may) => set(['customer_may_change', 'schedule'])(may ? { shortest_minutes: usualMinutes } : null)}
      />
      {minutes !== undefined && (
        <TextField
          label={editor.shortestMinutes}
          value={String(minutes)}
          onInput={(value) =>
            set(['customer_may_change', 'schedule', 'shortest_minutes'])(/^\d+$/.test(value) ? Number(value) : value)
          }
        />
      )}
      <TagsField draft={draft} change={change} />
    </>
  );
}

/** A cron expression, with its description and next run as the hint. */
function Schedule({ value, onInput }: { value: string; onInput(value: string): void }) {
  const { mayWrite } = useConsole();
  const { data } = useAnswer(
    mayWrite
      ? requestTo('POST /integrations/templates/connections/cron/describe', { body: { cron_expression: value } })
      : undefined,
  );
  const [next] = data?.next_runs ?? [];
  const said = data?.is_valid
    ? `${data.description ?? ''}${next ? ` · ${words.editor.nextRun(formatting.dateTime(next))}` : ''}`
    : (data?.error ?? words.editor.cronHint);
  return <TextField label={words.editor.schedule} hint={said} value={value} onInput={onInput} />;
}
