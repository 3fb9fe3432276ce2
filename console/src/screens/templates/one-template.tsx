/** One template: the editor, what a change would do before it is saved, and how changes reach the customers. */
import type { ConnectorSpecification, SourceDefinition } from '@inlay/contract/definitions';
import type { TemplatePlan } from '@inlay/contract/template-plans';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { ApiError, type ApiRequest } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CurlButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { ChoiceField, FactList } from '../../parts/fields.tsx';
import { Bones, Page, Panel } from '../../parts/page.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { useAction } from '../../parts/use-action.ts';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { secretsIn } from './draft.ts';
import { TemplateEditor } from './editor.tsx';
import { type AnyTemplate, changedFields, editableDraft, type Kind, kinds, nameOf } from './kinds.ts';
import { Plan } from './plan.tsx';
import { Rollouts } from './rollouts.tsx';
import { useDraft } from './use-draft.ts';
import { Versions } from './versions.tsx';
import { templatesWords } from './words.ts';

export function OneTemplate({ kind, id }: { kind: Kind; id: string }) {
  const words = templatesWords.get();
  const { mayWrite, formatting, announce } = useConsole();
  const path = `${kinds[kind].path}/${encodeURIComponent(id)}`;
  const { data: template, error, reload } = useAnswer<AnyTemplate>({ method: 'GET', path });
  const [isDeleting, setDeleting] = useState(false);
  const [existing, setExisting] = useState('keep');
  return (
    <Page
      title={template ? nameOf(kind, template) : words.title}
      trail={<Link to={pathTo('templates')}>{words.title}</Link>}
      beside={
        mayWrite &&
        template && (
          <Button kind="danger" onClick={() => setDeleting(true)}>
            {words.delete}
          </Button>
        )
      }
    >
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!template && !error && <Bones />}
      {template && (
        <>
          <FactList
            facts={[
              [words.version, formatting.number(template.version)],
              [words.updated, <When time={template.updated_at} />],
              [words.id, <code>{template.id}</code>],
            ]}
          />
          {/* A saved change starts the editor anew. */}
          <Editor kind={kind} path={path} template={template} onSaved={reload} key={template.version} />
          <Rollouts path={path} />
          <Versions path={path} onRolledBack={reload} key={`version ${template.version}`} />
        </>
      )}
      {isDeleting && (
        <RequestDialog
          title={words.delete}
          text={words.deleteText}
          label={words.delete}
          kind="danger"
          request={{ method: 'DELETE', path, query: { existing } }}
          onClose={() => setDeleting(false)}
          onDone={(_, goOn) => {
            announce(words.deleted);
            goOn(pathTo('templates'));
          }}
        >
          <ChoiceField label={words.existing} value={existing} options={words.existings} onInput={setExisting} />
        </RequestDialog>
      )}
    </Page>
  );
}

interface EditorProps {
  kind: Kind;
  path: string;
  template: AnyTemplate;
  onSaved(): void;
}

function Editor({ kind, path, template, onSaved }: EditorProps) {
  const definitionId = String(template[kinds[kind].definitionField]);
  const { data, error, reload } = useAnswer<Pick<SourceDefinition, 'definition'>>({
    method: 'GET',
    path: `${kinds[kind].definitionsPath}/${encodeURIComponent(definitionId)}`,
  });
  return (
    <>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {data && <Change {...{ kind, path, template, onSaved, definitionId }} specification={data.definition.spec} />}
    </>
  );
}

interface ChangeProps extends EditorProps {
  definitionId: string;
  specification: ConnectorSpecification;
}

function Change({ kind, path, template, onSaved, definitionId, specification }: ChangeProps) {
  const words = templatesWords.get();
  const { mayWrite } = useConsole();
  const action = useAction();
  const [saved] = useState(() => editableDraft(kind, template));
  const [apply, setApply] = useState('all');
  const [plan, setPlan] = useState<TemplatePlan | undefined>(undefined);
  const [note, setNote] = useState('');
  // A plan is for what was entered then.
  const forget = () => {
    setPlan(undefined);
    setNote('');
  };
  const state = useDraft(saved, forget);
  const changes = changedFields(saved, state.draft);
  const secrets = secretsIn(kind, state.draft, specification);
  const request: ApiRequest = { method: 'POST', path: `${path}/plan`, body: { ...changes, apply }, secrets };
  return (
    <>
      <TemplateEditor
        kind={kind}
        definitionId={definitionId}
        specification={specification}
        templateId={template.id}
        state={state}
        faults={action.error instanceof ApiError ? action.error.faults : []}
        isReadOnly={!mayWrite}
      />
      {mayWrite && (
        <Panel title={words.editor.saving}>
          <div class="c-panel-body">
            <ChoiceField
              label={words.whom}
              value={apply}
              options={words.applies}
              onInput={(value) => {
                setApply(value);
                forget();
              }}
            />
            {action.error !== undefined && <ErrorNotice error={action.error} takesFocus />}
            <div class="c-tools">
              <Button
                kind="primary"
                isBusy={action.isBusy}
                onClick={() => {
                  if (state.trouble) setNote(words.editor.brokenFirst);
                  else if (Object.keys(changes).length === 0) setNote(words.unchanged);
                  else action.run<TemplatePlan>(request, setPlan);
                }}
              >
                {words.plan}
              </Button>
              <CurlButton request={request} what={words.plan} />
              <span role="status">{note}</span>
            </div>
            {plan && <Plan plan={plan} path={path} onSaved={onSaved} />}
          </div>
        </Panel>
      )}
    </>
  );
}
