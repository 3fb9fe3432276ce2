/**
 * What a customer would get from a connection template draft, as text, because the widget does not show connection templates.
 * The service validates the draft as if it were saved. While the draft is invalid, the last valid preview stays.
 */
import type { ConnectionTemplatePreview } from '@inlay/contract/catalog/connection-templates';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { FactList } from '../../parts/fields.tsx';
import { words as frameWords } from '../../parts/frames/frame-words.ts';
import { Bones } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { useLast } from '../../parts/use-last.ts';
import { useSettled } from '../../parts/use-settled.ts';
import { formatting } from '../../words/formatting.ts';
import { words as common } from '../../words/words.ts';
import type { Draft } from './draft.ts';
import { words } from './words.ts';

interface ConnectionPreviewProps {
  definitionId: string;
  /** Undefined: the template is new. */
  templateId?: string | undefined;
  /** Undefined: the JSON is invalid. */
  draft: Draft | undefined;
}

type Source = ConnectionTemplatePreview['sources'][number];

export function ConnectionPreview({ definitionId, templateId, draft }: ConnectionPreviewProps) {
  const of =
    templateId === undefined
      ? { destination_definition_id: definitionId }
      : { original_connection_template_id: templateId };
  const body = useSettled(draft && JSON.stringify({ ...draft, ...of }));
  const { data, error, reload } = useAnswer(
    body === undefined
      ? undefined
      : requestTo('POST /integrations/templates/connections/preview', { body: JSON.parse(body) }),
  );
  const shown = useLast(data);
  const isInvalid = draft === undefined || error?.status === 422;
  return (
    <div class="c-stack">
      <p class="c-hint">{words.editor.getsText}</p>
      {isInvalid && <Notice kind="warning" title={shown ? frameWords.lastGood : frameWords.notYet} />}
      {error && !isInvalid && <ErrorNotice error={error} onTryAgain={reload} />}
      {shown ? <Gets preview={shown} /> : !error && <Bones />}
    </div>
  );
}

function Gets({ preview }: { preview: ConnectionTemplatePreview }) {
  const { editor } = words;
  const { schedule, customer_may_change: may } = preview;
  const [next] = schedule?.next_runs ?? [];
  const when = schedule
    ? `${schedule.description ?? preview.cron_expression}${next ? ` · ${editor.nextRun(formatting.dateTime(next))}` : ''}`
    : editor.onlyWhenAsked;
  const choices = [
    ...(may.streams ? [editor.mayStreams] : []),
    ...(may.schedule ? [editor.mayOften(may.schedule.shortest_minutes)] : []),
  ];
  const columns: Column<Source>[] = [
    { title: common.column.source, isName: true, cell: ({ name }) => name },
    {
      title: editor.streamMode,
      isWide: true,
      cell: ({ streams, stream_selection_mode }) => streams?.join(', ') ?? editor.streamModes[stream_selection_mode],
    },
  ];
  return (
    <>
      <FactList
        facts={[
          [editor.getsDestination, `${preview.destination_name} (${preview.destination_type})`],
          [editor.getsSchedule, when],
          [editor.getsFirst, preview.sync_on_create ? editor.atOnce : editor.notAtOnce],
          [editor.namespace, <code key="namespace">{preview.namespace_format}</code>],
          [editor.prefix, <code key="prefix">{preview.prefix}</code>],
          [editor.getsChoice, choices.length > 0 ? choices.join(', ') : editor.mayNothing],
        ]}
      />
      {preview.sources.length === 0 ? (
        <p class="c-muted">{editor.noSources}</p>
      ) : (
        <Table
          label={editor.streamMode}
          rows={preview.sources}
          columns={columns}
          idOf={({ source_template_id }) => source_template_id}
        />
      )}
      {preview.more_sources > 0 && <p class="c-muted">{editor.moreSources(preview.more_sources)}</p>}
    </>
  );
}
