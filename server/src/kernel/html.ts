/** HTML as text. It is safe because every value is escaped, unless `html` itself has made the value. */

export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | undefined | readonly (Html | string)[];

/** A template whose values are escaped; nested `html` is kept, lists are joined. */
export function html(parts: TemplateStringsArray, ...values: Part[]): Html {
  let text = parts[0] ?? '';
  values.forEach((value, index) => {
    text += [value].flat().map(asHtml).join('') + (parts[index + 1] ?? '');
  });
  return new Html(text);
}

function asHtml(value: Html | string | number | undefined): string {
  if (value instanceof Html) return value.text;
  return String(value ?? '').replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
