/**
 * Previews an unsaved source template in the widget. The service validates the draft as if it were saved. While the draft is
 * invalid, the last valid preview stays.
 */
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useMemo, useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { ErrorNotice } from '../error-notice.tsx';
import { Bones } from '../page.tsx';
import { useLast } from '../use-last.ts';
import { useSettled } from '../use-settled.ts';
import { words } from './frame-words.ts';
import { PreviewFrame } from './preview-frame.tsx';
import { savedLook } from './widget-look.ts';

export interface DraftPreviewProps {
  definitionId: string;
  /** Undefined: the template is new. */
  templateId?: string | undefined;
  /** A body that creates or changes a template. Undefined: the JSON is invalid. */
  draft: object | undefined;
}

export function DraftPreview({ definitionId, templateId, draft }: DraftPreviewProps) {
  const { hasEnded } = useConsole();
  const [look] = useState(savedLook);
  const of =
    templateId === undefined ? { actor_definition_id: definitionId } : { original_source_template_id: templateId };
  const body = useSettled(draft && JSON.stringify({ ...draft, ...of }));
  const { data, error, reload } = useAnswer(
    body === undefined
      ? undefined
      : requestTo('POST /integrations/templates/sources/preview', { body: JSON.parse(body) }),
  );
  const shown = useLast(data);
  const templates = useMemo(() => (shown ? [shown] : []), [shown]);
  const isInvalid = draft === undefined || error?.status === 422;
  if (hasEnded) return null;
  return (
    <>
      <p class="c-hint">{words.draft}</p>
      {isInvalid && <Notice kind="warning" title={shown ? words.lastGood : words.notYet} />}
      {error && !isInvalid && <ErrorNotice error={error} onTryAgain={reload} />}
      {templates.length > 0 ? (
        <PreviewFrame templates={templates} title={words.preview} look={look} />
      ) : (
        !error && <Bones />
      )}
    </>
  );
}
