/** Enrols a worker, and shows once how to start it. */
import type { WorkerWithToken } from '@inlay/contract/pipelines/workers';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { InfoDialog } from '../../parts/dialogs/info-dialog.tsx';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { CheckField, TextField } from '../../parts/fields.tsx';
import { words as common } from '../../words/words.ts';
import { words } from './words.ts';

interface EnrolProps {
  onMade(made: WorkerWithToken): void;
  onClose(): void;
}

export function EnrolWorker({ onMade, onClose }: EnrolProps) {
  const [name, setName] = useState('');
  const [labels, setLabels] = useState('');
  const [customers, setCustomers] = useState('');
  const [isTrusted, setTrusted] = useState(false);
  const [reachesPrivate, setReachesPrivate] = useState(false);
  const [isReusable, setReusable] = useState(false);
  const workspaceIds = listIn(customers);
  const body = {
    ...(name.trim() && { name: name.trim() }),
    labels: Object.fromEntries(listIn(labels).map(labelIn)),
    ...(workspaceIds.length > 0 && { workspace_ids: workspaceIds, trusted: isTrusted }),
    allow_private_networks: reachesPrivate,
    reusable: isReusable,
  };
  return (
    <RequestDialog
      title={words.enrol}
      label={words.enrol}
      request={requestTo('POST /integrations/workers', { body })}
      onDone={onMade}
      onClose={onClose}
    >
      <TextField label={words.name} hint={words.nameHint} value={name} onInput={setName} />
      <TextField label={words.labels} hint={words.labelsHint} value={labels} onInput={setLabels} />
      <TextField label={words.customers} hint={words.customersHint} value={customers} onInput={setCustomers} />
      {workspaceIds.length > 0 && <CheckField label={words.trusted} isChecked={isTrusted} onChange={setTrusted} />}
      <CheckField label={words.privateNetworks} isChecked={reachesPrivate} onChange={setReachesPrivate} />
      <CheckField label={words.reusable} isChecked={isReusable} onChange={setReusable} />
    </RequestDialog>
  );
}

/** What is no label stays as it is: the service says what is wrong with it. */
function labelIn(text: string): [string, string] {
  const [name = '', ...value] = text.split('=');
  return [name.trim(), value.join('=').trim()];
}

function listIn(text: string): string[] {
  return text
    .split(/[,\s]+/)
    .map((part) => part.trim())
    .filter(Boolean);
}

export function StartWorker({ made, onClose }: { made: WorkerWithToken; onClose(): void }) {
  // Exported, not passed as arguments: every process of a machine can read the arguments of the others.
  const commands = [`export INLAY_WORKER_URL=${made.url}`, `export INLAY_WORKER_TOKEN=${made.token}`, 'inlay worker'];
  return (
    <InfoDialog
      title={words.made}
      isWide
      actions={
        <Button kind="primary" onClick={onClose}>
          {common.close}
        </Button>
      }
    >
      <p class="c-muted">{made.worker.reusable ? words.onceReusable : words.once}</p>
      <CodeBlock title={words.command} text={commands.join('\n')} copyLabel={words.copyCommand} level={3} />
    </InfoDialog>
  );
}
