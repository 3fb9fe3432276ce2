/** The form of one template: the customer fills it in, it is tested, and the source is connected. */
import type { CheckWarning, Source } from '@inlay/contract/sources';
import type { Offer } from '../api/api.ts';
import { RequestFailure } from '../api/failure.ts';
import { Button } from '../parts/button.tsx';
import { useDiscardGuard } from '../parts/discard-guard.tsx';
import { GuideLink } from '../parts/guide-link.tsx';
import { FailureNotice } from '../parts/notice.tsx';
import { Screen } from '../parts/screen.tsx';
import { FormSkeleton } from '../parts/skeletons.tsx';
import { SourceIcon } from '../parts/source-icon.tsx';
import { createSource } from '../sources/create-source.ts';
import { loadForm } from '../sources/lazy-form.ts';
import { freeName } from '../sources/names.ts';
import { summaryOf } from '../sources/progress.ts';
import { SourceForm } from '../sources/source-form.tsx';
import { useLoaded } from '../sources/use-loaded.ts';
import { useWidget } from '../widget.ts';
import { useWords } from '../words/words.ts';

export function ConnectScreen({ offer, canGoBack }: { offer: Offer; canGoBack: boolean }) {
  const words = useWords();
  const { api, host, pipelines, change, go } = useWidget();
  const guard = useDiscardGuard();
  const loaded = useLoaded(offer.id, async (signal) => {
    const [template, form] = await Promise.all([api.getOffer(offer.id, signal), loadForm()]);
    return { template, form };
  });
  const { sources } = pipelines;

  async function save(
    name: string,
    config: Record<string, unknown>,
    warnings: CheckWarning[],
    signal: AbortSignal,
  ): Promise<void> {
    const request = { source_template_id: offer.id, name, source_config: config };
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
        <SourceForm
          id="inlay-connect"
          form={loaded.value.form}
          specification={loaded.value.template.user_config_spec.connectionSpecification}
          name={freeName(
            offer.name,
            sources.map(({ name }) => name),
          )}
          submitLabel={words.connect.submit}
          saving={{ step: words.steps.connect, active: words.steps.connecting, next: words.steps.firstSync }}
          startCheck={(config, signal) => api.checkNew({ source_template_id: offer.id, source_config: config }, signal)}
          save={save}
          onChanged={() => guard.setChanged(true)}
        />
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
