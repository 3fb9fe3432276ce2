/** Dialogs that create and rotate a token. */
import type { OperatorToken, OperatorTokenWithSecret } from '@inlay/contract/tenancy/tokens';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { ChoiceField, TextField } from '../../parts/fields.tsx';
import { words as common } from '../../words/words.ts';
import { words } from './words.ts';

interface FormProps {
  onMade(token: OperatorTokenWithSecret): void;
  onClose(): void;
}

export function CreateToken({ onMade, onClose }: FormProps) {
  const { roles } = common.shell;
  const [name, setName] = useState('');
  const [permission, setPermission] = useState<OperatorToken['permission']>('operator');
  const [day, setDay] = useState('');
  const body = {
    name: name.trim(),
    permission,
    // The token works until the end of that day in the user's time zone.
    ...(day ? { expires_at: new Date(`${day}T23:59:59`).toISOString() } : {}),
  };
  return (
    <RequestDialog
      title={words.create}
      label={words.create}
      request={requestTo('POST /operator-tokens', { body })}
      onDone={onMade}
      onClose={onClose}
    >
      <TextField label={words.name} hint={words.nameHint} value={name} onInput={setName} isRequired />
      <ChoiceField
        label={words.role}
        hint={words.roleHints[permission]}
        value={permission}
        options={roles}
        onInput={(value) => setPermission(value as OperatorToken['permission'])}
      />
      <TextField label={words.expiresOn} hint={words.expiresHint} type="date" value={day} onInput={setDay} />
    </RequestDialog>
  );
}

export function RotateToken({ token, onMade, onClose }: FormProps & { token: OperatorToken }) {
  const [overlap, setOverlap] = useState('86400');
  return (
    <RequestDialog
      title={words.rotateOf(token.name)}
      text={words.rotateText}
      label={words.rotate}
      request={requestTo('POST /operator-tokens/{operator_token_id}/rotate', {
        ids: [token.id],
        body: { overlap_seconds: Number(overlap) },
      })}
      onDone={onMade}
      onClose={onClose}
    >
      <ChoiceField label={words.overlap} value={overlap} options={words.overlaps} onInput={setOverlap} />
    </RequestDialog>
  );
}
