/** How a page is sent: it loads nothing from elsewhere, runs at most scripts of ours, and says who may frame it. */
import type { ErrorCode } from '@inlay/contract/error-catalogue';
import type { FastifyReply } from 'fastify';
import type { Html } from '../html.ts';
import { codeHeader } from './error-reply.ts';

interface PageReply {
  status: number;
  page: Html;
  /** The code of the error, for a page that explains one. */
  error?: ErrorCode;
  /** Which pages may frame this page, as a source list of CSP; by default none. */
  frameAncestors?: string;
  /** Another origin from which images may come. */
  images?: string;
  /** Whether the page runs our own scripts, which call our API. */
  runsScripts?: boolean;
  /** What the page may frame, as a source list of CSP; by default nothing. Such a page may have workers of ours, too. */
  frames?: string;
  /** Whether the page has no origin: it may run scripts, and reaches nothing of the browser. */
  isSandboxed?: boolean;
  /** Where forms of the page may lead, as a source list of CSP; by default nowhere. */
  formTargets?: string;
}

/**
 * Without `allow-same-origin`, the page has no origin: no cookies, no storage and no access to other pages. Without
 * `allow-forms`, browsers do not even dispatch submit events. `form-action` prevents actual submissions.
 */
const sandbox = 'allow-scripts allow-forms';

export function sendPage(reply: FastifyReply, options: PageReply) {
  const { status, page, error, frameAncestors, images, runsScripts, frames, isSandboxed, formTargets } = options;
  if (error !== undefined) reply.header(codeHeader, error);
  const policy = [
    "default-src 'none'",
    ...(runsScripts ? ["script-src 'self'", "connect-src 'self'"] : []),
    ...(frames === undefined ? [] : ["worker-src 'self'", `frame-src ${frames}`]),
    "style-src 'self'",
    `img-src 'self' data:${images === undefined ? '' : ` ${images}`}`,
    "base-uri 'none'",
    ...(isSandboxed ? [`sandbox ${sandbox}`] : []),
    `form-action ${formTargets ?? "'none'"}`,
    `frame-ancestors ${frameAncestors ?? "'none'"}`,
  ];
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('content-security-policy', policy.join('; '))
    .send(page.text);
}
