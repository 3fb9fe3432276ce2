/*
 * Parses CSV rows like the Python module `csv`: nothing is refused. A quote in the middle of a value is a character,
 * text after a closing quote belongs to the value, and a value with an unclosed quote continues to the end.
 */

/** What is read next. */
type Place = 'row' | 'value' | 'plain value' | 'quoted value' | 'behind a quote';

/** Empty lines are skipped. Line breaks become `\n`, also within a value. */
export async function* readCsvRows(texts: AsyncIterable<string>, delimiter: string): AsyncGenerator<string[]> {
  let place: Place = 'row';
  let row: string[] = [];
  let value = '';
  const endValue = () => {
    row.push(value);
    value = '';
  };
  for await (const text of withPlainBreaks(texts)) {
    for (let at = 0; at < text.length; ) {
      if (place === 'plain value' || place === 'quoted value') {
        // All characters up to the next that means something.
        const end = endOfPlain(text, at, place === 'quoted value' ? '"' : delimiter, place === 'plain value');
        value += text.slice(at, end);
        at = end;
        if (at === text.length) break;
      }
      const character = text[at++] as string;
      if (place === 'quoted value') place = 'behind a quote';
      else if (place === 'behind a quote' && character === '"') {
        value += '"';
        place = 'quoted value';
      } else if (character === '\n') {
        if (place !== 'row') endValue();
        if (row.length > 0) yield row;
        row = [];
        place = 'row';
      } else if (character === delimiter) {
        endValue();
        place = 'value';
      } else if (character === '"' && (place === 'row' || place === 'value')) place = 'quoted value';
      else {
        value += character;
        place = 'plain value';
      }
    }
  }
  if (place === 'row') return;
  endValue();
  yield row;
}

/** Looks at each character once: where the mark is far away, searches for it would add up. */
function endOfPlain(text: string, from: number, mark: string, endsWithLine: boolean): number {
  const wanted = mark.charCodeAt(0);
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === wanted || (endsWithLine && code === 10)) return at;
  }
  return text.length;
}

/** A carriage return at the end of one text and a line feed at the start of the next are one break. */
async function* withPlainBreaks(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let isHalf = false;
  for await (const text of texts) {
    const whole: string = isHalf ? `\r${text}` : text;
    isHalf = whole.endsWith('\r');
    const ready = isHalf ? whole.slice(0, -1) : whole;
    yield ready.includes('\r') ? ready.replace(/\r\n?/g, '\n') : ready;
  }
  if (isHalf) yield '\n';
}
