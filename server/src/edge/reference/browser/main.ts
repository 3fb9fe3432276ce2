/**
 * Adds to the pages of the reference a search, buttons that copy, and forms that send requests. The pages are complete
 * without this script. What a reader enters stays in the memory of the script and is gone with the tab. So that it
 * stays while the reader moves between pages, the script follows links itself.
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
