/** One endpoint on the page: what it does, which token it needs, what it takes, what it answers. */
import { type Html, html } from '../html.ts';
import { type Endpoint, firstExample, type Media, mediaOf, type Parameter } from './document.ts';
import { curlCommand, givenExample } from './example-request.ts';
import { formatJson, json, prose } from './prose.ts';
import { describeSchema, type Field, fieldsOf, literal } from './schema-words.ts';

export function anchorOf({ operationId }: Endpoint): string {
  return operationId.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
}

export function methodBadge(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

export function endpointSection(endpoint: Endpoint, serverUrl: string): Html {
  const { path, method, summary = path, description, deprecated, parameters = [], requestBody } = endpoint;
  const anchor = anchorOf(endpoint);
  const [status = '200', success] = successOf(endpoint);
  const answer = mediaOf(success);
  return html`
<article class="endpoint" id="${anchor}" aria-labelledby="${anchor}-title">
<h3 id="${anchor}-title"><a href="#${anchor}">${summary}</a>${deprecated ? html` <span class="deprecated">Deprecated</span>` : ''}</h3>
<p class="route">${methodBadge(method)} <code>${pathParts(path)}</code></p>
${description === undefined ? '' : html`<p>${prose(description)}</p>`}
<p class="token">${tokenInWords(endpoint)}</p>
<div class="sides">
<div>
${parameterTable('In the path', parameters, 'path')}
${parameterTable('In the query', parameters, 'query')}
${parameterTable('In the headers', parameters, 'header')}
${bodyTable(mediaOf(requestBody), requestBody?.required ?? false)}
${answerTable(status, success?.description ?? '', answer)}
${errorTable(endpoint)}
</div>
<div class="examples">
<figure><figcaption>Request</figcaption><pre><code>${curlCommand(endpoint, serverUrl)}</code></pre></figure>
${tryForm(endpoint)}
${answer ? html`<figure><figcaption>Answer ${status}</figcaption><pre><code>${json(firstExample(answer))}</code></pre></figure>` : ''}
</div>
</div>
</article>`;
}

/** A form that sends the request. It works only with the script, so only the script shows it. */
function tryForm({ path, method, parameters = [], requestBody, security = [] }: Endpoint): Html {
  const [scheme] = Object.keys(security[0] ?? {});
  const body = mediaOf(requestBody);
  const entries = parameters.filter((parameter) => parameter.in !== 'header');
  return html`
<details class="trying" hidden>
<summary>Try it</summary>
<form class="try" data-method="${method}" data-path="${path}">
${
  scheme === undefined
    ? ''
    : html`<label><span>${tokenName(scheme)}</span><input type="password" data-token="${scheme}" autocomplete="off" spellcheck="false"></label>
`
}${entries.map(
  (
    parameter,
  ) => html`<label><span><code>${parameter.name}</code>${parameter.required ? '' : html` <span class="note">optional</span>`}</span><input name="${parameter.name}" data-in="${parameter.in}" autocomplete="off" spellcheck="false"></label>
`,
)}${
  body
    ? html`<label><span>Body</span><textarea name="body" data-in="body" rows="${rowsFor(body)}" spellcheck="false">${formatJson(firstExample(body))}</textarea></label>
`
    : ''
}<p><button type="submit">Send ${method.toUpperCase()}</button> <span class="aside">to this service, with real effects</span></p>
<output></output>
</form>
</details>`;
}

const rowsFor = (body: Media) => Math.min(16, formatJson(firstExample(body)).split('\n').length + 1);

/** operatorToken → Operator token */
function tokenName(scheme: string): string {
  const words = scheme.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The path, which may be broken into lines before each slash. */
function pathParts(path: string): Html[] {
  return path.split(/(?=\/)/).map((part, index) => {
    const isParameter = /^\/\{.*\}$/.test(part);
    const shown = isParameter ? html`/<span class="placeholder">${part.slice(1)}</span>` : html`${part}`;
    return index === 0 ? shown : html`<wbr>${shown}`;
  });
}

/** A long name, which may be broken into lines after each underscore. */
function breakable(name: string): Html[] {
  return name.split(/(?<=_)/).map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`));
}

function tokenInWords({ security = [] }: Endpoint): Html {
  const ways = security.flatMap((schemes) => Object.entries(schemes));
  if (ways.length === 0) return html`Needs no token.`;
  const words = ways.map(([scheme, permissions]) => {
    const token = scheme.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
    const permission = permissions.length > 0 ? ` with permission \`${permissions.join('`, `')}\`` : '';
    return `${/^[aeiou]/.test(token) ? 'an' : 'a'} ${token}${permission}`;
  });
  return html`Needs ${prose(words.join(' or '))}.`;
}

function successOf({ responses }: Endpoint) {
  return Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
}

interface Row {
  name: Html;
  note: string;
  type: string;
  description: string | undefined;
  example: unknown;
}

function table(caption: string, head: string, rows: Row[]): Html {
  return html`
<table class="fields">
<caption class="hidden">${caption}</caption>
<thead><tr><th scope="col">${head}</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead>
<tbody>
${rows.map(
  ({ name, note, type, description, example }) => html`<tr>
<th scope="row"><code>${name}</code>${note ? html` <span class="note ${note}">${note}</span>` : ''}</th>
<td>${prose(type)}</td>
<td>${prose(description ?? '')}${example === undefined ? '' : html`<span class="example">Example: <code>${literal(example)}</code></span>`}</td>
</tr>
`,
)}</tbody>
</table>`;
}

function parameterTable(title: string, parameters: Parameter[], place: string): Html {
  const here = parameters.filter((parameter) => parameter.in === place);
  if (here.length === 0) return html``;
  const rows = here.map((parameter) => ({
    name: html`${breakable(parameter.name)}`,
    note: parameter.required ? 'required' : 'optional',
    type: describeSchema(parameter.schema ?? {}),
    description: parameter.description,
    example: givenExample(parameter),
  }));
  return html`<h4>${title}</h4>${table(title, 'Parameter', rows)}`;
}

function bodyTable(body: Media | undefined, required: boolean): Html {
  if (!body?.schema) return html``;
  const rows = fieldsOf(body.schema).map((field) => fieldRow(field, field.required ? 'required' : 'optional'));
  return html`<h4>Body${required ? '' : html` <span class="aside">may be left out</span>`}</h4>
${rows.length > 0 ? table('Body', 'Field', rows) : html`<p>${prose(describeSchema(body.schema))}</p>`}`;
}

function answerTable(status: string, title: string, answer: Media | undefined): Html {
  const rows = fieldsOf(answer?.schema ?? {}).map((field) => fieldRow(field, field.required ? '' : 'optional'));
  return html`<h4>Answer <span class="status ok">${status}</span> <span class="aside">${title}</span></h4>
${rows.length > 0 ? table('Answer', 'Field', rows) : answer?.schema ? html`<p>${prose(describeSchema(answer.schema))}</p>` : ''}`;
}

function fieldRow({ holder, name, schema }: Field, note: string): Row {
  // A list or an object needs no example here: the rows of its parts have theirs.
  const hasParts = schema.properties !== undefined || schema.items?.properties !== undefined;
  return {
    name: html`<span class="holder">${breakable(holder)}</span>${breakable(name)}`,
    note,
    type: describeSchema(schema),
    description: schema.description,
    example: hasParts ? undefined : schema.examples?.[0],
  };
}

/** Every error as a row of its own, in the order of statuses. */
function errorTable({ responses }: Endpoint): Html {
  const statuses = Object.keys(responses).filter((status) => !status.startsWith('2'));
  if (statuses.length === 0) return html``;
  const rows = statuses.flatMap((status) => {
    const { description = '', ...response } = responses[status] ?? {};
    const media = mediaOf(response);
    const cases = Object.values(media?.examples ?? { only: { value: media && firstExample(media) } });
    return cases.map(({ summary = description, value }) => ({ status, detail: detailOf(value), when: summary }));
  });
  return html`<details class="errors">
<summary><h4>Errors</h4> ${statuses.map((status) => html`<span class="status">${status}</span> `)}</summary>
<table>
<caption class="hidden">Errors</caption>
<thead><tr><th scope="col">Status</th><th scope="col"><code>detail</code></th><th scope="col">When</th></tr></thead>
<tbody>
${rows.map(
  ({ status, detail, when }) =>
    html`<tr><th scope="row"><span class="status">${status}</span></th><td>${detail}</td><td>${prose(when)}</td></tr>\n`,
)}</tbody>
</table>
</details>`;
}

function detailOf(answer: unknown): Html {
  const detail = typeof answer === 'object' && answer !== null && 'detail' in answer ? answer.detail : answer;
  return typeof detail === 'string' ? html`${detail}` : html`<pre><code>${json(detail)}</code></pre>`;
}
