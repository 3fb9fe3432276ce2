/* Shows what a source writes as text. */
import { TextBuffer } from '@inlay/protocol/text-buffer';

export function addedText(add: (to: TextBuffer) => void): string {
  const buffer = new TextBuffer(1024);
  add(buffer);
  return buffer.take().toString();
}
