/**
 * The icon of a connector, or a colored tile with its first letter. Images come only from where the page's policy
 * allows them: a `data:` address, the service, or the origin that embeds the widget.
 */
import { useState } from 'preact/hooks';
import { useWidget } from '../widget.ts';

export interface SourceIconProps {
  icon: string | null;
  name: string;
  size?: 'small' | 'large';
}

export function SourceIcon({ icon, name, size = 'small' }: SourceIconProps) {
  const { allowedOrigin } = useWidget();
  const [isBroken, setBroken] = useState(false);
  const classes = `inlay-icon inlay-icon-${size}`;
  if (icon && !isBroken && isAllowedImage(icon, [location.origin, allowedOrigin])) {
    return (
      <span class={`${classes} inlay-icon-image`}>
        <img src={icon} alt="" onError={() => setBroken(true)} />
      </span>
    );
  }
  return (
    <span class={`${classes} inlay-icon-letter`} style={{ '--inlay-hue': hueOf(name) }} aria-hidden="true">
      {[...name.trim()][0]?.toUpperCase() ?? '?'}
    </span>
  );
}

export function isAllowedImage(address: string, origins: readonly (string | undefined)[]): boolean {
  if (/^data:image\//i.test(address)) return true;
  return URL.canParse(address) && /^https?:/i.test(address) && origins.includes(new URL(address).origin);
}

/** The same name always has the same color. */
export function hueOf(name: string): number {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 360_000;
  return (hash * 137) % 360;
}
