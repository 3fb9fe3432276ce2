/** A link to the page that explains how to set a connector up. It opens in a new tab. */

import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import { useWords } from '../words/words.ts';

export function GuideLink({ address }: { address: string | undefined }) {
  const words = useWords();
  // The address comes from a connector, so it may be any text.
  if (!address || !URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) return null;
  return (
    <a class="inlay-link" href={address} target="_blank" rel="noopener noreferrer">
      {words.connect.guide}
      <Glyph name="external" />
      <span class="inlay-unseen"> {words.opensInNewTab}</span>
    </a>
  );
}
