/** The form of one template: the customer fills it in, it is tested, and the source is connected. */
import type { CheckWarning, Source } from '@inlay/contract/pipelines/sources';
import { Button } from '@inlay/ui/parts/button.tsx';
import type { ComponentChildren } from 'preact';
import type { Offer } from '../api/api.ts';
import { RequestFailure } from '../api/failure.ts';
import { useDiscardGuard } from '../parts/discard-guard.tsx';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { GuideLink } from '../parts/guide-link.tsx';
import { Screen } from '../parts/screen.tsx';
import { FormSkeleton } from '../parts/skeletons.tsx';
import { SourceIcon } from '../parts/source-icon.tsx';
import { loadSignIn } from '../sign-in/lazy.tsx';
import { createSource } from '../sources/create-source.ts';
import { loadForm } from '../sources/lazy-form.ts';
import { freeName } from '../sources/names.ts';
import { summaryOf } from '../sources/progress.ts';
import { SourceForm, type SourceFormProps } from '../sources/source-form.tsx';
import { useLoaded } from '../sources/use-loaded.ts';
import { useWidget } from '../widget.ts';
import { useWords } from '../words/words.ts';

export function ConnectScreen({ offer, canGoBack }: { offer: Offer; canGoBack: boolean }) {
  const words = useWords();
  const { api, host, pipelines, change, go } = useWidget();
  const guard = useDiscardGuard();
  const loaded = useLoaded(offer.id, async (signal) => {
    const [template, form] = await Promise.all([api.getOffer(offer.id, signal), loadForm()]);
    return { template, form, signIn: template.oauth && (await loadSignIn(words)) };
  });
  const { sources } = pipelines;
  const requestOf = (source_config: Record<string, unknown>, credential_id?: string) => ({
    source_template_id: offer.id,
    source_config,
    ...(credential_id && { credential_id }),
  });

  async function save(
    name: string,
    config: Record<string, unknown>,
    warnings: CheckWarning[],
    signal: AbortSignal,
    credential_id?: string,
  ): Promise<void> {
    const request = { ...requestOf(config, credential_id), name };
    const known = sources.map(({ id }) => id);
    const source: Source = await createSource(api, request, known, signal);
    change((now) => ({ ...now, sources: [...now.sources, summaryOf(source)] }));
    host.tell({
      type: 'source_created',
      source: { id: source.id, name: source.name, source_template_id: source.source_template.id },
    });
    go({ screen: 'connected', sourceId: source.id, warnings });
  }

  const isGone = loaded.error instanceof RequestFailure && loaded.error.kind === 'not_found';
  const choose = () => go({ screen: 'choose' });
  const form = (): ComponentChildren => {
    if (!loaded.value) return;
    const { template, form, signIn } = loaded.value;
    const props: SourceFormProps = {
      id: 'inlay-connect',
      form,
      specification: template.user_config_spec.connectionSpecification,
      advancedAuth: template.user_config_spec.advanced_auth,
      name: freeName(
        offer.name,
        sources.map(({ name }) => name),
      ),
      submitLabel: words.connect.submit,
      saving: { step: words.steps.connect, active: words.steps.connecting, next: words.steps.firstSync },
      startCheck: (config, signal, credentialId) => api.checkNew(requestOf(config, credentialId), signal),
      save,
      onChanged: () => guard.setChanged(true),
    };
    return template.oauth && signIn ? (
      <signIn.module.SignInForm {...props} oauth={template.oauth} template={template} words={signIn.words} />
    ) : (
      <SourceForm {...props} />
    );
  };
  return (
    <Screen
      name="form"
      title={words.connect.title(offer.name)}
      icon={<SourceIcon icon={offer.icon} name={offer.name} size="large" />}
      lead={
        (offer.description || loaded.value) && (
          <>
            {offer.description && <span class="inlay-lead-line">{offer.description}</span>}
            {loaded.value && <GuideLink address={loaded.value.template.user_config_spec.documentationUrl} />}
          </>
        )
      }
      back={canGoBack ? { label: words.back, onClick: () => guard.leave(choose) } : undefined}
    >
      {loaded.value ? (
        form()
      ) : loaded.error !== undefined ? (
        <FailureNotice
          error={loaded.error}
          actions={
            isGone ? (
              <Button onClick={choose}>{words.back}</Button>
            ) : (
              <Button onClick={loaded.reload}>{words.tryAgain}</Button>
            )
          }
        />
      ) : (
        <FormSkeleton />
      )}
      {guard.dialog}
    </Screen>
  );
}
