/** A connector's icon and name. Icons from other hosts are not loaded, because the console contacts no third parties. */
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
