/** A value required before the sign-in, such as a subdomain in the provider's URLs. */
import type { OfferedOAuth } from '@inlay/contract/catalog/template-oauth';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';

export interface ValueFieldProps {
  id: string;
  field: OfferedOAuth['values'][number];
  /** In the customer's language. */
  title: string;
  value: string;
  fault: string | undefined;
  isDisabled: boolean;
  onInput(value: string): void;
}

/** For hosts such as `*.my.example.com`, of which the customer enters the wildcard. */
const isPattern = (host: string) => host.startsWith('*.');

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
      {hosts && !hosts.some(isPattern) ? (
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
          list={hosts ? `${id}-hosts` : undefined}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
      {hosts?.some(isPattern) && (
        <datalist id={`${id}-hosts`}>
          {hosts.map((host) => !isPattern(host) && <option key={host} value={host} />)}
        </datalist>
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
