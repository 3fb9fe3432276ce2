/** Discovers a source's streams with values that are not stored. The template's fixed values are prefilled. */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import { ConnectorForm } from '@inlay/ui/form/connector-form.tsx';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useId, useMemo, useState } from 'preact/hooks';
import { ApiError, requestTo } from '../../api/client.ts';
import { InfoDialog } from '../../parts/dialogs/info-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { useAction } from '../../parts/use-action.ts';
import { reasonInWords } from '../../words/reason.ts';
import { words as common } from '../../words/words.ts';
import { configField, type Draft } from './draft.ts';
import { words as templatesWords } from './words.ts';

const words = templatesWords.editor;

interface DiscoverDialogProps {
  draft: Draft;
  definitionId: string;
  specification: ConnectorSpecification;
  /** Masked secrets stand for those of this template. */
  templateId: string | undefined;
  onClose(): void;
  onFound(names: string[]): void;
}

export function DiscoverDialog({ draft, definitionId, specification, templateId, ...props }: DiscoverDialogProps) {
  const { onClose, onFound } = props;
  const id = useId();
  const action = useAction();
  const [said, setSaid] = useState<string | undefined>(undefined);
  const fixed = draft[configField];
  const [value] = useState(() => (isObject(fixed) && Object.keys(fixed).length > 0 ? fixed : undefined));
  const faults = useMemo(() => faultsIn(action.error), [action.error]);
  return (
    <InfoDialog
      title={words.discover}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" form={id} isBusy={action.isBusy}>
            {words.discover}
          </Button>
        </>
      }
    >
      <p class="c-muted">{words.discoverText}</p>
      <ConnectorForm
        id={id}
        specification={specification.connectionSpecification as Record<string, unknown>}
        advancedAuth={specification.advanced_auth}
        value={value}
        faults={faults}
        disabled={action.isBusy}
        onSubmit={(configuration) =>
          action.run(
            requestTo('POST /integrations/sources/discover', {
              body: {
                ...(templateId ? { source_template_id: templateId } : { source_definition_id: definitionId }),
                source_config: configuration,
              },
            }),
            ({ streams, error_message, error_reason }) => {
              const said = reasonInWords(error_reason, error_message);
              if (said === null) onFound(streams.map(({ name }) => name));
              else setSaid(said);
            },
          )
        }
      />
      {said !== undefined && (
        <Notice kind="danger" title={words.sourceFails} takesFocus key={said}>
          {said}
        </Notice>
      )}
      {action.error !== undefined && <ErrorNotice error={action.error} takesFocus />}
    </InfoDialog>
  );
}

/** Field errors. The notice shows the others. */
function faultsIn(error: unknown) {
  if (!(error instanceof ApiError)) return [];
  return error.faults
    .filter(({ path }) => path[0] === 'source_config' && path.length > 1)
    .map(({ path, message }) => ({ path: path.slice(1), message }));
}
