/**
 * What makes the reference a tool rather than a text: a search, buttons that copy, requests that can be tried. The pages
 * are whole without it. What a reader enters stays in the memory of this script: it is stored nowhere and gone with the
 * tab, which is why links between the pages are followed here.
 */
import { addCopyButtons } from './copying.ts';
import { followLinks } from './navigation.ts';
import { openSearch } from './search.ts';
import { openTries } from './trying.ts';

const tokens = new Map<string, string>();

function bringToLife(): void {
  addCopyButtons(document);
  openTries(document, tokens);
}

openSearch(document);
followLinks(bringToLife);
bringToLife();
