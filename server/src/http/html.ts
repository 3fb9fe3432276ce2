/** How a page is sent: it runs no script, loads nothing from elsewhere, and says who may frame it. */
import type { FastifyReply } from 'fastify';
import type { Html } from '../html.ts';

/** `frameAncestors` is a source list of CSP. */
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
