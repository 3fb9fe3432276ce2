/** One template: the editor, a plan of a change before it is saved, rollouts and versions. */
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import type { TemplatePlan } from '@inlay/contract/catalog/template-plans';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { ApiError, requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CurlButton } from '../../parts/copy-button.tsx';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { ChoiceField, FactList } from '../../parts/fields.tsx';
import { Bones, Page, Panel } from '../../parts/page.tsx';
import { useAction } from '../../parts/use-action.ts';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { secretsIn } from './draft.ts';
import { TemplateEditor } from './editor.tsx';
import { type AnyTemplate, changedFields, editableDraft, type Kind, kinds, nameOf, routesOf } from './kinds.ts';
import { NextStep } from './next-step.tsx';
import { Plan } from './plan.tsx';
import { Rollouts } from './rollouts.tsx';
import { useDraft } from './use-draft.ts';
import { Versions } from './versions.tsx';
import { words } from './words.ts';

interface OneTemplateProps {
  kind: Kind;
  id: string;
  /** The user has just created it. */
  isCreated: boolean;
}

export function OneTemplate({ kind, id, isCreated }: OneTemplateProps) {
  const { mayWrite, announce } = useConsole();
  const { template: one } = routesOf[kind];
  const { data: template, error, reload } = useAnswer(requestTo(`GET ${one}`, { ids: [id] }));
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
          {isCreated && mayWrite && <NextStep kind={kind} />}
          <FactList
            facts={[
              [words.version, formatting.number(template.version)],
              [words.updated, <When time={template.updated_at} />],
              [words.id, <code>{template.id}</code>],
            ]}
          />
          {/* The key resets the editor after a change was saved. */}
          <Editor kind={kind} template={template} onSaved={reload} key={template.version} />
          <Rollouts kind={kind} id={id} />
          <Versions kind={kind} id={id} onRolledBack={reload} key={`version ${template.version}`} />
        </>
      )}
      {isDeleting && (
        <RequestDialog
          title={words.delete}
          text={words.deleteText}
          label={words.delete}
          kind="danger"
          request={requestTo(`DELETE ${one}`, { ids: [id], query: { existing } })}
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
  template: AnyTemplate;
  onSaved(): void;
}

function Editor({ kind, template, onSaved }: EditorProps) {
  const definitionId = String(template[kinds[kind].definitionField]);
  const { data, error, reload } = useAnswer(requestTo(`GET ${routesOf[kind].definition}`, { ids: [definitionId] }));
  return (
    <>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {data && <Change {...{ kind, template, onSaved, definitionId }} specification={data.definition.spec} />}
    </>
  );
}

interface ChangeProps extends EditorProps {
  definitionId: string;
  specification: ConnectorSpecification;
}

function Change({ kind, template, onSaved, definitionId, specification }: ChangeProps) {
  const { mayWrite } = useConsole();
  const action = useAction();
  const [saved] = useState(() => editableDraft(kind, template));
  const [apply, setApply] = useState<'all' | 'new_only'>('all');
  const [plan, setPlan] = useState<TemplatePlan | undefined>(undefined);
  const [note, setNote] = useState('');
  // A plan holds only for the draft it was made from.
  const forget = () => {
    setPlan(undefined);
    setNote('');
  };
  const state = useDraft(saved, forget);
  const changes = changedFields(saved, state.draft);
  const secrets = secretsIn(kind, state.draft, specification);
  const request = requestTo(`POST ${routesOf[kind].template}/plan`, {
    ids: [template.id],
    body: { ...changes, apply },
    secrets,
  });
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
                  else action.run(request, setPlan);
                }}
              >
                {words.plan}
              </Button>
              <CurlButton request={request} what={words.plan} />
              <span role="status">{note}</span>
            </div>
            {plan && <Plan kind={kind} id={template.id} plan={plan} onSaved={onSaved} />}
          </div>
        </Panel>
      )}
    </>
  );
}
