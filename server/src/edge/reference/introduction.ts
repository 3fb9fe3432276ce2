/** What holds for the whole API, told once at the top of the page. */
import { type Html, html } from '../../kernel/html.ts';
import { formatJson, prose } from './prose.ts';

/** An error that any path of the API can give, besides the errors of its endpoint. */
export interface PlainRefusal {
  status: number;
  code: string;
  detail: string;
  when: string;
}

export interface Chapter {
  anchor: string;
  title: string;
  text: Html;
}

export const introduction = (plainRefusals: PlainRefusal[]): Chapter[] => [
  {
    anchor: 'authentication',
    title: 'Authentication',
    text: html`
<p>A request carries one token, in the header <code>Authorization: Bearer &lt;token&gt;</code> and nowhere else. There are three kinds:</p>
<dl class="kinds">
<div><dt>Operator token</dt><dd>${prose('Acts for the whole organization and belongs in your backend, never in a browser or in version control. With permission `full` it may call everything, with `read` only GET endpoints, with `operator` everything but what has to do with secrets of the organization. The service makes the first one when it starts for the first time; those it makes begin with `inlay_op_`.')}</dd></div>
<div><dt>Scoped token</dt><dd>${prose('Acts inside one workspace. A JWT that your backend generates for one of your customers; anyone can verify it with the keys at `/.well-known/jwks.json`. May be used from browsers.')}</dd></div>
<div><dt>Widget token</dt><dd>${prose('For the embedded widget: base64 of a JSON object with `token`, a scoped token bound to one browser origin, and `widgetUrl`, the address for an iframe. Its scoped token is accepted from that origin only.')}</dd></div>
</dl>
<p>${prose("A request with an operator token may name its organization in the header `X-Organization-Id`; another organization than the token's is refused with 403.")}</p>`,
  },
  {
    anchor: 'errors',
    title: 'Errors',
    text: html`
<p>${prose('Every answer that is not a success has a body with `detail` and nothing else: a sentence to show or to compare with, or for status 422 the list of all faults of the request. The header `X-Inlay-Error` has the code of the error, which does not change when the words do.')}</p>
<div class="pair">
<pre><code>${formatJson({ detail: 'Workspace not found' })}</code></pre>
<pre><code>${formatJson({ detail: [{ loc: ['body', 'workspace_name'], msg: 'field required', type: 'value_error.missing' }] })}</code></pre>
</div>
<p>${prose('Where waiting helps, `Retry-After` says for how many seconds. When a 502, 503 or 504 says that something is recorded, the service will complete it; sending the request again does no harm.')}</p>
<details>
<summary>Refusals of HTTP itself, possible on any path</summary>
<table aria-label="Refusals of HTTP itself">
<thead><tr><th scope="col">Status</th><th scope="col"><code>X-Inlay-Error</code></th><th scope="col"><code>detail</code></th><th scope="col">When</th></tr></thead>
<tbody>
${plainRefusals.map(
  ({ status, code, detail, when }) =>
    html`<tr><th scope="row"><span class="status">${status}</span></th><td><code>${code}</code></td><td>${detail}</td><td>${prose(when)}</td></tr>\n`,
)}</tbody>
</table>
</details>`,
  },
  {
    anchor: 'idempotency',
    title: 'Repeating a request',
    text: html`
<p>${prose('A POST whose answer was lost can be sent again without doing its work twice: send both with the same header `Idempotency-Key`, a text of your choice such as a UUID. For 24 hours every request with the same key and body gets the stored answer, with the header `Idempotency-Replayed: true`. A key counts for one token and one path.')}</p>
<p>${prose('With another body the key is refused with 422 (`idempotency_key_reused`), and while the first request is being carried out with 409 (`idempotency_key_in_use`) and `Retry-After`. Requests that were not as described (422), answers with `Retry-After` and failures (5xx) are not stored: the same key tries again. All other methods are idempotent by themselves.')}</p>`,
  },
  {
    anchor: 'unknown-fields',
    title: 'Unknown fields',
    text: html`
<p>${prose('Query parameters and fields of the body that an endpoint does not know are ignored, and named in the header `X-Inlay-Unknown` of the answer. With the header `Prefer: handling=strict` the request is refused with 422 instead. So is every DELETE with an unknown parameter or field.')}</p>`,
  },
  {
    anchor: 'pagination',
    title: 'Pagination',
    text: html`
<p>${prose('A list that can be long comes in pages: `data` holds the items, `next` the full URL of the next page, or null on the last one. Follow `next` as it is; cursors are opaque and not meant to be built. `limit` sets how many items a page has.')}</p>`,
  },
  {
    anchor: 'rate-limits',
    title: 'Rate limits',
    text: html`
<p>${prose('Requests are counted for each token and minute. Scoped and widget tokens have 1,200 unless the service was started with another `INLAY_RATE_LIMIT_PER_MINUTE`; all scoped tokens of a workspace together have five times as many, or `INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE`; operator tokens are limited only where `INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE` is set. Where a limit applies, answers carry `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` of the limit that is nearer; beyond it they are 429 with `Retry-After`.')}</p>`,
  },
  {
    anchor: 'request-ids',
    title: 'Request ids',
    text: html`
<p>${prose('Every answer has an `X-Request-Id`, and the log of the service has it with everything the request caused. Send one of your own to follow a request through several systems: 1 to 36 letters, digits and hyphens; anything else is replaced.')}</p>
<p>${prose('`X-Trace-Id` is the id of the trace that the request is part of: the trace of the header `traceparent` (W3C Trace Context), or a new one.')}</p>`,
  },
];
