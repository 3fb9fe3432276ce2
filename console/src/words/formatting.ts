/** Numbers and times are formatted in English, like the console's texts. */
import { createFormatting } from '@inlay/ui/words/formatting.ts';

export const formatting = createFormatting('en');
