/** To the page that explains how to set a connector up, in a tab of its own. */
import { useWords } from '../words/words.ts';
import { Glyph } from './glyph.tsx';

export function GuideLink({ address }: { address: string | undefined }) {
  const words = useWords();
  // The address is a connector's: it may be anything.
  if (!address || !URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) return null;
  return (
    <a class="inlay-link" href={address} target="_blank" rel="noopener noreferrer">
      {words.connect.guide}
      <Glyph name="external" />
      <span class="inlay-unseen"> {words.opensInNewTab}</span>
    </a>
  );
}
