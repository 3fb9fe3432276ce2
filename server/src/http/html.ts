/** HTML pages: everything shown is text unless it was made by `html` itself, and every page says who may frame it. */
import type { FastifyReply } from 'fastify';

export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | undefined | (Html | string)[];

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

/** Pages run no script and load nothing from elsewhere. `frameAncestors` is a source list of CSP. */
export function sendPage(reply: FastifyReply, status: number, page: Html, frameAncestors = "'none'") {
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header(
      'content-security-policy',
      `default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors ${frameAncestors}`,
    )
    .send(page.text);
}
