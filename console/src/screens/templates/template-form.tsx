/** The template form: general settings, the connector's configuration, and settings of its kind. */
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import { FieldTree } from '@inlay/ui/form/field-tree.tsx';
import { type ObjectField, readSpecification } from '@inlay/ui/form/fields.ts';
import { FormContext, fieldId } from '@inlay/ui/form/form-context.ts';
import { ObjectFields } from '@inlay/ui/form/object-fields.tsx';
import { translated } from '@inlay/ui/form/translation.ts';
import type { ComponentChildren } from 'preact';
import { useId, useMemo } from 'preact/hooks';
import type { Fault } from '../../api/client.ts';
import { ConfigFields } from './config-fields.tsx';
import { DestinationSettings } from './destination-settings.tsx';
import { changed, type Draft } from './draft.ts';
import type { Kind } from './kinds.ts';
import { OAuthSetup } from './oauth-setup.tsx';
import { SourceSettings } from './source-settings.tsx';
import { StreamChoice } from './stream-choice.tsx';
import type { DraftState } from './use-draft.ts';
import { words } from './words.ts';
import '@inlay/ui/form/form.css';
import '@inlay/ui/form/controls.css';

export interface TemplateFormProps {
  kind: Kind;
  definitionId: string;
  specification: ConnectorSpecification;
  /** Undefined: the template is new. */
  templateId?: string;
  state: DraftState;
  /** Validation errors from the service. */
  faults: readonly Fault[];
  isDisabled: boolean;
}

export function TemplateForm(props: TemplateFormProps) {
  const { kind, definitionId, specification, templateId, state, isDisabled } = props;
  const root = useMemo(
    () => readSpecification(translated(specification.connectionSpecification, 'en'), specification.advanced_auth),
    [specification],
  );
  const { draft, change } = state;
  return (
    <div class="inlay-form t-form">
      <fieldset class="t-plain" disabled={isDisabled}>
        <Section title={words.editor.general}>
          {kind === 'source' ? (
            <SourceSettings draft={draft} change={change} />
          ) : (
            <DestinationSettings draft={draft} change={change} />
          )}
        </Section>
        <Section title={words.editor.configuration} hint={words.editor.configurationHints[kind]}>
          <Configuration {...props} root={root} />
        </Section>
        {kind === 'source' && (
          <Section title={words.editor.streams}>
            <StreamChoice
              definitionId={definitionId}
              specification={specification}
              {...(templateId && { templateId })}
              draft={draft}
              change={change}
            />
          </Section>
        )}
        {kind === 'source' && (
          <Section title={words.oauth.title}>
            <OAuthSetup
              definitionId={definitionId}
              describesSignIn={specification.advanced_auth !== undefined}
              {...(templateId && { templateId })}
              draft={draft}
              change={change}
            />
          </Section>
        )}
      </fieldset>
    </div>
  );
}

function Section({ title, hint, children }: { title: string; hint?: string; children: ComponentChildren }) {
  return (
    <section class="t-section">
      <h3>{title}</h3>
      {hint && <p class="c-hint">{hint}</p>}
      {children}
    </section>
  );
}

/** The operator sets a destination's whole configuration, but decides field by field for a source. */
function Configuration({ kind, state, faults, isDisabled, root }: TemplateFormProps & { root: ObjectField }) {
  const formId = useId();
  const member = kind === 'source' ? 'partial_default_config' : 'destination_config';
  const { draft, change } = state;
  const shown = useMemo(
    () =>
      new Map(
        faults
          .filter(({ path }) => path[0] === member)
          .map(({ path, message }) => [fieldId(formId, path.slice(1)), message]),
      ),
    [faults],
  );
  const context = {
    formId,
    isExisting: true,
    isDisabled,
    faults: shown,
    change: (path: readonly (string | number)[], value: unknown) =>
      change((before) => changed(before, [member, ...path], value)),
  };
  return (
    <FormContext.Provider value={context}>
      {kind === 'source' ? (
        <ConfigFields field={root} draft={draft} change={change} path={[]} />
      ) : (
        <ObjectFields field={root} path={[]} value={configOf(draft)} Inner={FieldTree} />
      )}
    </FormContext.Provider>
  );
}

const configOf = ({ destination_config }: Draft) => destination_config;
