/** The rules of the whole API, at the top of the page. */
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
<p>Authenticate with a token in the header <code>Authorization: Bearer &lt;token&gt;</code>. There are three types of token:</p>
<dl class="kinds">
<div><dt>Operator token</dt><dd>${prose('Acts for the whole organization. Keep it in your backend, never in a browser or in version control. With permission `full` it can call every endpoint, with `operator` everything except manage operator tokens, OAuth clients, webhook secrets and workers, and with `read` only GET endpoints. The first one is generated when the service first starts. Generated tokens start with `inlay_op_`.')}</dd></div>
<div><dt>Scoped token</dt><dd>${prose('Acts within a single workspace. Your backend generates this JWT for a customer. Anyone can verify it with the keys at `/.well-known/jwks.json`, and browsers may use it.')}</dd></div>
<div><dt>Widget token</dt><dd>${prose('For the embedded widget: base64 of a JSON object with `token`, a scoped token bound to one browser origin, and `widgetUrl`, the URL for an iframe. The scoped token is only accepted from that origin.')}</dd></div>
</dl>
<p>${prose('Requests with an operator token may name the organization in the `X-Organization-Id` header. If it differs from the organization of the token, the response is 403.')}</p>`,
  },
  {
    anchor: 'errors',
    title: 'Errors',
    text: html`
<p>${prose('Every error response has a body with only `detail`: a message or, for status 422, a list of all faults of the request. The `X-Inlay-Error` header contains a stable error code, while messages may change.')}</p>
<div class="pair">
<pre><code>${formatJson({ detail: 'Workspace not found' })}</code></pre>
<pre><code>${formatJson({ detail: [{ loc: ['body', 'workspace_name'], msg: 'field required', type: 'value_error.missing' }] })}</code></pre>
</div>
<p>${prose('If retrying helps, `Retry-After` contains the number of seconds to wait. If a 502, 503 or 504 says that a change was saved, Inlay completes it automatically. Retrying is safe.')}</p>
<details>
<summary>HTTP errors that any path can return</summary>
<table aria-label="HTTP errors">
<thead><tr><th scope="col">Status</th><th scope="col"><code>X-Inlay-Error</code></th><th scope="col"><code>detail</code></th><th scope="col">Meaning</th></tr></thead>
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
    title: 'Idempotent requests',
    text: html`
<p>${prose('To retry a POST safely, send the same `Idempotency-Key` header with each attempt, such as a UUID. For 24 hours, every request with the same key and body returns the stored response, with the header `Idempotency-Replayed: true`. Keys apply per token and path.')}</p>
<p>${prose('Reusing a key with a different body returns 422 (`idempotency_key_reused`). While the first request is in progress, the response is 409 (`idempotency_key_in_use`) with `Retry-After`. Validation errors (422), responses with `Retry-After` and server errors (5xx) are not stored, so you can retry with the same key. All other methods are already idempotent.')}</p>`,
  },
  {
    anchor: 'unknown-fields',
    title: 'Unknown fields',
    text: html`
<p>${prose('Unknown query parameters and body fields are ignored and listed in the `X-Inlay-Unknown` response header. With the request header `Prefer: handling=strict`, the response is 422 instead. DELETE requests always reject unknown parameters and fields.')}</p>`,
  },
  {
    anchor: 'pagination',
    title: 'Pagination',
    text: html`
<p>${prose('Long lists are paginated: `data` contains the items and `next` the full URL of the next page, or null on the last page. Follow `next` as is, because cursors are opaque. `limit` sets the number of items per page.')}</p>`,
  },
  {
    anchor: 'rate-limits',
    title: 'Rate limits',
    text: html`
<p>${prose('Requests are limited per token and minute. Scoped and widget tokens allow 1,200 requests (`INLAY_RATE_LIMIT_PER_MINUTE`), and all scoped tokens of a workspace together five times as many (`INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE`). Operator tokens are only limited if `INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE` is set. If a limit applies, responses carry `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` of the closest limit. Requests above it return 429 with `Retry-After`.')}</p>`,
  },
  {
    anchor: 'request-ids',
    title: 'Request IDs',
    text: html`
<p>${prose('Every response has an `X-Request-Id`, which the log repeats on every line the request causes. Send your own to follow a request across systems: 1 to 36 letters, digits and hyphens. Other values are replaced.')}</p>
<p>${prose('`X-Trace-Id` identifies the trace of the request: that of the `traceparent` header (W3C Trace Context), or a new one.')}</p>`,
  },
];
