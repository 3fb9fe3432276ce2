/** The widget with the playground's settings, as the named customer sees it, or as a new customer would if there is none. */
import type { TemplateExplanation, TemplateFilterRequest } from '@inlay/contract/catalog/template-filters';
import { callApi, requestTo } from '../../api/client.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { PreviewFrame } from '../../parts/frames/preview-frame.tsx';
import { WidgetFrame } from '../../parts/frames/widget-frame.tsx';
import type { WidgetLook } from '../../parts/frames/widget-look.ts';
import { Bones } from '../../parts/page.tsx';
import { useLast } from '../../parts/use-last.ts';
import { words } from './words.ts';

export interface PreviewProps {
  /** Undefined: no customer has this name. */
  customer: { id: string; name: string } | undefined;
  filters: TemplateFilterRequest;
  look: WidgetLook;
  explanation: TemplateExplanation | undefined;
}

export function Preview({ customer, filters, look, ...props }: PreviewProps) {
  const explanation = useLast(props.explanation);
  return (
    <div class="c-panel-body">
      <p class="c-hint">{customer ? words.asCustomer(customer.name) : words.asNew}</p>
      {customer ? (
        <WidgetFrame workspaceId={customer.id} title={words.preview} look={look} filters={filters} />
      ) : explanation ? (
        <Sample explanation={explanation} look={look} />
      ) : (
        <Bones />
      )}
    </div>
  );
}

/** Enough to show what the widget looks like. */
const maxTemplates = 20;
const previewPath = '/integrations/templates/sources/preview';

function Sample({ explanation, look }: { explanation: TemplateExplanation; look: WidgetLook }) {
  const ids = explanation.source_templates
    .filter(({ shown }) => shown)
    .slice(0, maxTemplates)
    .map(({ id }) => id);
  const { data, error, reload } = useLoaded(ids.join(), (signal) =>
    Promise.all(
      ids.map((original_source_template_id) =>
        callApi(requestTo(`POST ${previewPath}`, { body: { original_source_template_id } }), signal),
      ),
    ),
  );
  const templates = useLast(data);
  if (error) return <ErrorNotice error={error} onTryAgain={reload} />;
  return templates ? <PreviewFrame templates={templates} title={words.preview} look={look} /> : <Bones />;
}
