/** Takes a manifest: pasted, dropped as a file, or chosen as one. */
import { useId, useState } from 'preact/hooks';
import type { ApiRequest } from '../../api/client.ts';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import type { OnDone } from '../../parts/use-action.ts';
import { words } from './words.ts';

export interface ManifestDialogProps<T> {
  title: string;
  text: string;
  requestWith(body: { manifest: string; name?: string }): ApiRequest<T>;
  onDone: OnDone<T>;
  onClose(): void;
}

export function ManifestDialog<T>({ title, text, requestWith, onDone, onClose }: ManifestDialogProps<T>) {
  const id = useId();
  const [manifest, setManifest] = useState('');
  const [name, setName] = useState('');
  const [isOver, setOver] = useState(false);
  const take = async (file: File | undefined) => {
    if (file) setManifest(await file.text());
  };
  return (
    <RequestDialog
      title={title}
      text={text}
      label={title}
      request={requestWith({ manifest, ...(name.trim() ? { name: name.trim() } : {}) })}
      onDone={onDone}
      onClose={onClose}
    >
      <div class="c-drop" data-over={isOver}>
        <div class="c-field">
          <label for={id}>{words.manifest}</label>
          <textarea
            class="c-editor c-editor-short"
            id={id}
            value={manifest}
            required
            spellcheck={false}
            onInput={({ currentTarget }) => setManifest(currentTarget.value)}
            onDragOver={(event) => {
              event.preventDefault();
              setOver(true);
            }}
            onDragLeave={() => setOver(false)}
            onDrop={(event) => {
              event.preventDefault();
              setOver(false);
              void take(event.dataTransfer?.files[0]);
            }}
          />
        </div>
        <div class="c-field">
          <label for={`${id}-file`}>{words.file}</label>
          <input
            id={`${id}-file`}
            type="file"
            accept=".yaml,.yml,.json"
            onChange={({ currentTarget }) => void take(currentTarget.files?.[0])}
          />
        </div>
      </div>
      <TextField label={words.name} hint={words.ownNameHint} value={name} onInput={setName} />
    </RequestDialog>
  );
}
