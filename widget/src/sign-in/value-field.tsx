/** Something that the provider's addresses need before anybody can sign in, such as a subdomain. */
import type { OfferedOAuth } from '@inlay/contract/template-oauth';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';

export interface ValueFieldProps {
  id: string;
  field: OfferedOAuth['values'][number];
  /** In the language of the customer. */
  title: string;
  value: string;
  fault: string | undefined;
  isDisabled: boolean;
  onInput(value: string): void;
}

export function ValueField({ id, title, field: { name, hosts }, value, fault, isDisabled, onInput }: ValueFieldProps) {
  const common = {
    id,
    name,
    value,
    disabled: isDisabled,
    'aria-required': true,
    'aria-invalid': fault !== undefined,
    'aria-describedby': fault && `${id}-fault`,
  };
  return (
    <div class="inlay-field">
      <label class="inlay-field-label" for={id}>
        <span class="inlay-field-title">{title}</span>
      </label>
      {hosts ? (
        <select
          {...common}
          class="inlay-control inlay-select"
          onChange={({ currentTarget }) => onInput(currentTarget.value)}
        >
          {hosts.map((host) => (
            <option key={host}>{host}</option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          class="inlay-control"
          type="text"
          autoComplete="off"
          autoCapitalize="off"
          spellcheck={false}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
      {fault && (
        <p class="inlay-field-fault" id={`${id}-fault`}>
          <Glyph name="alert" />
          <span>{fault}</span>
        </p>
      )}
    </div>
  );
}
