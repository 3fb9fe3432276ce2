/** The form with a source's settings, and the button to disconnect it. */
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import type { CheckWarning, Source, SourceSummary } from '@inlay/contract/pipelines/sources';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useRef, useState } from 'preact/hooks';
import { CheckWarnings } from '../parts/check-warnings.tsx';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { GuideLink } from '../parts/guide-link.tsx';
import { NameField, nameFault } from '../parts/name-field.tsx';
import { FormSkeleton } from '../parts/skeletons.tsx';
import { loadSignIn } from '../sign-in/lazy.tsx';
import { loadForm } from '../sources/lazy-form.ts';
import { summaryOf } from '../sources/progress.ts';
import { SourceForm, type SourceFormProps } from '../sources/source-form.tsx';
import { useAction } from '../sources/use-action.ts';
import { useLoaded } from '../sources/use-loaded.ts';
import { useWidget } from '../widget.ts';
import { useWords } from '../words/words.ts';
import { DisconnectSource } from './disconnect-source.tsx';

interface Props {
  source: SourceSummary;
  setChanged(isChanged: boolean): void;
}

export function SourceSettings({ source, setChanged }: Props) {
  const words = useWords();
  const widget = useWidget();
  const { api } = widget;
  const [timesSaved, setTimesSaved] = useState(0);
  const [warnings, setWarnings] = useState<CheckWarning[]>([]);
  const loaded = useLoaded(`${source.id} ${timesSaved}`, async (signal) => {
    const [details, form] = await Promise.all([api.getSource(source.id, signal), loadForm()]);
    return { details, form, signIn: details.oauth && (await loadSignIn(words)) };
  });

  function onSaved(saved: Source, found: CheckWarning[] = []): void {
    setWarnings(found);
    widget.change((now) => ({
      ...now,
      sources: now.sources.map((known) => (known.id === saved.id ? summaryOf(saved) : known)),
    }));
    widget.host.tell({
      type: 'source_updated',
      source: { id: saved.id, name: saved.name, source_template_id: saved.source_template.id },
    });
    setChanged(false);
    setTimesSaved((times) => times + 1);
    widget.look();
  }

  const onChanged = () => setChanged(true);
  const form = ({ details, form, signIn }: NonNullable<typeof loaded.value>, spec: ConnectorSpecification) => {
    const requestOf = (source_config: Record<string, unknown>, credential_id?: string) => ({
      source_config,
      ...(credential_id && { credential_id }),
    });
    const props: SourceFormProps = {
      id: 'inlay-settings',
      form,
      specification: spec.connectionSpecification,
      advancedAuth: spec.advanced_auth,
      name: details.name,
      config: details.source_config,
      submitLabel: words.source.save,
      saving: { step: words.steps.save, active: words.steps.saving },
      startCheck: (config, signal, credentialId) =>
        api.checkExisting(source.id, requestOf(config, credentialId), signal),
      save: async (name, config, found, signal, credentialId) =>
        onSaved(await api.updateSource(source.id, { name, ...requestOf(config, credentialId) }, signal), found),
      onChanged,
    };
    return details.oauth && signIn ? (
      <signIn.module.SignInForm
        {...props}
        oauth={details.oauth}
        template={details.source_template}
        source={details}
        words={signIn.words}
      />
    ) : (
      <SourceForm {...props} />
    );
  };
  const spec = loaded.value?.details.user_config_spec;
  return (
    <>
      {timesSaved > 0 && <Notice kind="success" key={timesSaved} title={words.source.saved} takesFocus />}
      <CheckWarnings warnings={warnings} />
      {loaded.value && spec ? (
        <>
          <GuideLink address={spec.documentationUrl} />
          {form(loaded.value, spec)}
        </>
      ) : loaded.value ? (
        <Rename source={source} onChanged={onChanged} onSaved={onSaved} />
      ) : loaded.error !== undefined ? (
        <FailureNotice error={loaded.error} actions={<Button onClick={loaded.reload}>{words.tryAgain}</Button>} />
      ) : (
        <FormSkeleton />
      )}
      <DisconnectSource source={source} />
    </>
  );
}

/** If the connector is currently unavailable there is no form, but the name can be changed. */
function Rename({
  source,
  onChanged,
  onSaved,
}: {
  source: SourceSummary;
  onChanged(): void;
  onSaved(saved: Source): void;
}) {
  const words = useWords();
  const { api } = useWidget();
  const [name, setName] = useState(source.name);
  const [fault, setFault] = useState<string | undefined>(undefined);
  const input = useRef<HTMLInputElement>(null);
  const save = useAction(async (signal) => onSaved(await api.updateSource(source.id, { name: name.trim() }, signal)));
  return (
    <form
      class="inlay-source-form"
      id="inlay-rename"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const found = nameFault(name, words.name);
        setFault(found);
        if (found) input.current?.focus();
        else save.run();
      }}
    >
      <Notice>{words.source.notOffered}</Notice>
      <NameField
        formId="inlay-rename"
        value={name}
        fault={fault}
        isDisabled={save.isRunning}
        inputRef={input}
        onInput={(value) => {
          setName(value);
          onChanged();
        }}
      />
      {save.error !== undefined && <FailureNotice error={save.error} takesFocus />}
      <div class="inlay-actions">
        <Button kind="primary" type="submit" isBusy={save.isRunning}>
          {words.source.rename}
        </Button>
      </div>
    </form>
  );
}
