/** One endpoint on the page: what it does, which token it needs, what it takes and what it returns. */
import { type Html, html } from '../../kernel/html.ts';
import { type Endpoint, firstExample, type Media, mediaOf, type Parameter } from './document.ts';
import { curlCommand, givenExample, tokenName } from './example-request.ts';
import { formatJson, prose } from './prose.ts';
import { describeSchema, type Field, fieldsOf, literal, type Schema } from './schema-words.ts';

export function anchorOf({ operationId }: Endpoint): string {
  return operationId.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
}

export function methodBadge(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

export function endpointSection(endpoint: Endpoint, serverUrl: string): Html {
  const { path, method, summary = path, description, deprecated, parameters = [], requestBody } = endpoint;
  const anchor = anchorOf(endpoint);
  const body = mediaOf(requestBody);
  const [status = '200', success] = Object.entries(endpoint.responses).find(([code]) => code.startsWith('2')) ?? [];
  const answer = mediaOf(success);
  return html`
<article class="endpoint" id="${anchor}" aria-labelledby="${anchor}-title">
<h2 id="${anchor}-title"><a href="#${anchor}">${summary}</a>${deprecated ? html` <span class="deprecated">Deprecated</span>` : ''}</h2>
<p class="route">${methodBadge(method)} <code>${path}</code></p>
${description === undefined ? '' : html`<p>${prose(description)}</p>`}
<p class="token">${tokenInWords(endpoint)}</p>
<div class="sides">
<div>
${parameterTable('Path parameters', parameters, 'path')}
${parameterTable('Query parameters', parameters, 'query')}
${parameterTable('Headers', parameters, 'header')}
${body ? schemaTable(html`Body${requestBody?.required ? '' : html` <span class="aside">optional</span>`}`, body.schema, 'required') : ''}
${schemaTable(html`Response <span class="status ok">${status}</span> <span class="aside">${success?.description}</span>`, answer?.schema, '')}
${errorTable(endpoint)}
</div>
<div class="examples">
<figure><figcaption>Request</figcaption><pre><code>${curlCommand(endpoint, serverUrl)}</code></pre></figure>
${tryForm(endpoint)}
${answer ? html`<figure><figcaption>Response ${status}</figcaption><pre><code>${formatJson(firstExample(answer))}</code></pre></figure>` : ''}
</div>
</div>
</article>`;
}

/** A form that sends the request. It works only with the script, so only the script shows it. */
function tryForm({ path, method, parameters = [], requestBody, security = [] }: Endpoint): Html {
  const [scheme] = Object.keys(security[0] ?? {});
  const body = mediaOf(requestBody);
  return html`
<details class="trying" hidden>
<summary>Try it</summary>
<form class="try" data-method="${method}" data-path="${path}">
${scheme === undefined ? '' : html`<label><span>Your ${tokenName(scheme)}</span><input type="password" data-token="${scheme}" autocomplete="off" spellcheck="false"></label>\n`}${parameters
  .filter((parameter) => parameter.in !== 'header')
  .map(
    ({ name, in: place, required }) =>
      html`<label><span><code>${name}</code>${required ? '' : html` <span class="note">optional</span>`}</span><input name="${name}" data-in="${place}" autocomplete="off" spellcheck="false"></label>\n`,
  )}${body ? html`<label><span>Body</span>${bodyField(body)}</label>\n` : ''}<p><button type="submit">Send ${method.toUpperCase()}</button> <span class="aside">Sends a real request to this service</span></p>
<output></output>
</form>
</details>`;
}

function bodyField(body: Media): Html {
  const example = formatJson(firstExample(body));
  const rows = Math.min(16, example.split('\n').length + 1);
  return html`<textarea name="body" data-in="body" rows="${rows}" spellcheck="false">${example}</textarea>`;
}

function tokenInWords({ security = [] }: Endpoint): Html {
  const ways = security.flatMap((schemes) => Object.entries(schemes));
  if (ways.length === 0) return html`No authentication required.`;
  const words = ways.map(([scheme, permissions]) => {
    const token = tokenName(scheme);
    const permission = permissions.length > 0 ? ` with permission \`${permissions.join('`, `')}\`` : '';
    return `${/^[aeiou]/.test(token) ? 'an' : 'a'} ${token}${permission}`;
  });
  return html`Requires ${prose(words.join(' or '))}.`;
}

function parameterTable(title: string, parameters: Parameter[], place: string): Html {
  const fields = parameters
    .filter((parameter) => parameter.in === place)
    .map((parameter) => {
      const { name, description, required = false, schema } = parameter;
      const example = givenExample(parameter);
      const examples = example === undefined ? [] : [example];
      return { holder: '', name, required, schema: { ...schema, ...(description ? { description } : {}), examples } };
    });
  return fields.length === 0 ? html`` : html`<h3>${title}</h3>${fieldTable(title, fields, 'required')}`;
}

/** `required`: the word for a field that is always there. An answer needs none. */
function schemaTable(title: Html, schema: Schema | undefined, required: 'required' | ''): Html {
  const fields = fieldsOf(schema ?? {});
  return html`<h3>${title}</h3>
${fields.length > 0 ? fieldTable('Fields', fields, required) : schema ? html`<p>${prose(describeSchema(schema))}</p>` : ''}`;
}

function fieldTable(label: string, fields: Field[], required: 'required' | ''): Html {
  return html`
<table class="fields" aria-label="${label}">
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead>
<tbody>
${fields.map((field) => {
  const { holder, name, schema } = field;
  const note = field.required ? required : 'optional';
  // A list or an object needs no example here: the rows of its parts have theirs.
  const hasParts = schema.properties !== undefined || schema.items?.properties !== undefined;
  const example = hasParts ? undefined : schema.examples?.[0];
  return html`<tr>
<th scope="row"><code><span class="holder">${holder}</span>${name}</code>${note ? html` <span class="note ${note}">${note}</span>` : ''}</th>
<td>${prose(describeSchema(schema))}</td>
<td>${prose(schema.description ?? '')}${example === undefined ? '' : html`<span class="example">Example: <code>${literal(example)}</code></span>`}</td>
</tr>
`;
})}</tbody>
</table>`;
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
<summary><h3>Errors</h3> ${statuses.map((status) => html`<span class="status">${status}</span> `)}</summary>
<table aria-label="Errors">
<thead><tr><th scope="col">Status</th><th scope="col"><code>detail</code></th><th scope="col">Meaning</th></tr></thead>
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
  return typeof detail === 'string' ? html`${detail}` : html`<pre><code>${formatJson(detail)}</code></pre>`;
}
