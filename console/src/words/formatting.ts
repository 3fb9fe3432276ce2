/** How the console writes numbers and times: in English, like its texts. */
import { createFormatting } from '@inlay/ui/words/formatting.ts';

export const formatting = createFormatting('en');
