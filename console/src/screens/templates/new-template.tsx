/** Creates a template from a connector. */
import type { DestinationDefinition, SourceDefinition } from '@inlay/contract/catalog/definitions';
import { initialValue } from '@inlay/ui/form/configuration.ts';
import { readSpecification } from '@inlay/ui/form/fields.ts';
import { Button } from '@inlay/ui/parts/button.tsx';
import { ApiError, requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CurlButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Page } from '../../parts/page.tsx';
import { useAction } from '../../parts/use-action.ts';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { type Draft, secretsIn } from './draft.ts';
import { TemplateEditor } from './editor.tsx';
import { type Kind, routesOf } from './kinds.ts';
import { useDraft } from './use-draft.ts';
import { words } from './words.ts';

type Definition = (SourceDefinition | DestinationDefinition)['definition'];

export function NewTemplate({ kind, definitionId }: { kind: Kind; definitionId: string }) {
  const { data, error, reload } = useAnswer(requestTo(`GET ${routesOf[kind].definition}`, { ids: [definitionId] }));
  return (
    <Page
      title={words.newTitle(data?.definition.name ?? '…')}
      trail={<Link to={pathTo('templates')}>{words.title}</Link>}
    >
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {data && <Creation kind={kind} definitionId={definitionId} definition={data.definition} />}
    </Page>
  );
}

/** A source template starts with nothing fixed, a connection template with the connector's defaults. */
function startOf(kind: Kind, { name, spec }: Definition): Draft {
  if (kind === 'source') return { name, partial_default_config: {}, tags: [] };
  const proposed = initialValue(readSpecification(spec.connectionSpecification));
  return { destination_name: name, destination_config: proposed, cron_expression: '0 0 * * * ?', tags: [] };
}

interface CreationProps {
  kind: Kind;
  definitionId: string;
  definition: Definition;
}

function Creation({ kind, definitionId, definition }: CreationProps) {
  const { announce } = useConsole();
  const action = useAction();
  const state = useDraft(startOf(kind, definition), () => undefined);
  const idField = kind === 'source' ? 'actor_definition_id' : 'destination_definition_id';
  const request = requestTo(`POST ${routesOf[kind].templates}`, {
    body: { [idField]: definitionId, ...state.draft },
    secrets: secretsIn(kind, state.draft, definition.spec),
  });
  return (
    <>
      <TemplateEditor
        kind={kind}
        definitionId={definitionId}
        specification={definition.spec}
        state={state}
        faults={action.error instanceof ApiError ? action.error.faults : []}
      />
      {action.error !== undefined && <ErrorNotice error={action.error} takesFocus />}
      <div class="c-tools t-actions">
        <Button
          kind="primary"
          isBusy={action.isBusy}
          onClick={() => {
            if (state.trouble) return;
            action.run(request, ({ id }, goOn) => {
              announce(words.created);
              goOn(pathTo('templates', id, { kind, created: 'true' }));
            });
          }}
        >
          {words.create}
        </Button>
        <CurlButton request={request} what={words.create} />
        {state.trouble && <span class="c-fault">{words.editor.brokenFirst}</span>}
      </div>
    </>
  );
}
