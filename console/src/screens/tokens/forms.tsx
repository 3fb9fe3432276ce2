/** What a new token needs. */
import type { OperatorToken, OperatorTokenWithSecret } from '@inlay/contract/tokens';
import { useState } from 'preact/hooks';
import { ChoiceField, TextField } from '../../parts/fields.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { useWords } from '../../words/words.ts';
import { tokensWords } from './words.ts';

interface FormProps {
  onMade(token: OperatorTokenWithSecret): void;
  onClose(): void;
}

export function CreateToken({ onMade, onClose }: FormProps) {
  const words = tokensWords.get();
  const { roles } = useWords().shell;
  const [name, setName] = useState('');
  const [permission, setPermission] = useState<OperatorToken['permission']>('operator');
  const [day, setDay] = useState('');
  const body = {
    name: name.trim(),
    permission,
    // The whole day counts, wherever the person is.
    ...(day ? { expires_at: new Date(`${day}T23:59:59`).toISOString() } : {}),
  };
  return (
    <RequestDialog<OperatorTokenWithSecret>
      title={words.create}
      label={words.create}
      request={{ method: 'POST', path: '/operator-tokens', body }}
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
  const words = tokensWords.get();
  const [overlap, setOverlap] = useState('86400');
  return (
    <RequestDialog<OperatorTokenWithSecret>
      title={words.rotateOf(token.name)}
      text={words.rotateText}
      label={words.rotate}
      request={{
        method: 'POST',
        path: `/operator-tokens/${token.id}/rotate`,
        body: { overlap_seconds: Number(overlap) },
      }}
      onDone={onMade}
      onClose={onClose}
    >
      <ChoiceField label={words.overlap} value={overlap} options={words.overlaps} onInput={setOverlap} />
    </RequestDialog>
  );
}
