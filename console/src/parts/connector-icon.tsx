/** The icon of a connector beside its name. Icons from elsewhere are not loaded: the page speaks with nobody else. */
import { useState } from 'preact/hooks';

export function ConnectorName({ name, icon }: { name: string; icon: string | null }) {
  const [isBroken, setBroken] = useState(false);
  const isOurs = icon !== null && (icon.startsWith('data:image/') || icon.startsWith(`${location.origin}/`));
  return (
    <span class="c-connector">
      {isOurs && !isBroken ? (
        <img src={icon} alt="" loading="lazy" onError={() => setBroken(true)} />
      ) : (
        <span class="c-connector-none" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
      )}
      <span>{name}</span>
    </span>
  );
}
