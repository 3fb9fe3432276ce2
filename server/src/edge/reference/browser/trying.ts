/**
 * The forms that send a request as an endpoint describes it. Only this page gets the answer. A token is kept in the
 * given map and nowhere else.
 */

export function openTries(root: ParentNode, tokens: Map<string, string>): void {
  for (const form of root.querySelectorAll<HTMLFormElement>('form.try')) {
    form.closest('[hidden]')?.removeAttribute('hidden');
    shareToken(form, tokens);
    form.onsubmit = (event) => {
      event.preventDefault();
      void send(form);
    };
  }
}

/** A token that is entered at one endpoint appears at all endpoints that take the same kind of token. */
function shareToken(form: HTMLFormElement, tokens: Map<string, string>): void {
  const field = form.querySelector<HTMLInputElement>('input[data-token]');
  const kind = field?.dataset.token;
  if (!field || kind === undefined) return;
  field.value = tokens.get(kind) ?? '';
  field.oninput = () => {
    tokens.set(kind, field.value);
    for (const other of document.querySelectorAll<HTMLInputElement>(`input[data-token="${kind}"]`))
      other.value = field.value;
  };
}

async function send(form: HTMLFormElement): Promise<void> {
  const output = form.querySelector('output');
  const button = form.querySelector<HTMLButtonElement>('button[type=submit]');
  if (!output || !button) return;
  button.disabled = true;
  output.textContent = 'Sending…';
  try {
    const answer = await fetch(...requestOf(form));
    output.textContent = [
      `${answer.status} ${answer.statusText}`.trim(),
      ...['X-Request-Id', 'X-Inlay-Error', 'X-Inlay-Unknown', 'Retry-After']
        .filter((name) => answer.headers.has(name))
        .map((name) => `${name}: ${answer.headers.get(name)}`),
      '',
      pretty(await answer.text()),
    ].join('\n');
  } catch (error) {
    output.textContent = `The request could not be sent: ${error instanceof Error ? error.message : error}`;
  } finally {
    button.disabled = false;
  }
}

function requestOf(form: HTMLFormElement): [URL, RequestInit] {
  const { method = 'get', path = '/' } = form.dataset;
  const fields = [...form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('[data-in]')];
  const valuesIn = (place: string) => fields.filter(({ dataset, value }) => dataset.in === place && value !== '');

  let filled = path;
  for (const { name, value } of valuesIn('path')) filled = filled.replace(`{${name}}`, encodeURIComponent(value));
  // The service may be reached below a path of its own, so the address starts where this script is: at docs/reference.js.
  const url = new URL(`..${filled}`, import.meta.url);
  for (const { name, value } of valuesIn('query')) url.searchParams.append(name, value);

  const headers = new Headers(valuesIn('header').map(({ name, value }) => [name, value]));
  const token = form.querySelector<HTMLInputElement>('input[data-token]')?.value.trim();
  if (token) headers.set('Authorization', `Bearer ${token}`);
  const [body] = valuesIn('body');
  if (body) headers.set('Content-Type', 'application/json');
  return [
    url,
    {
      method: method.toUpperCase(),
      headers,
      // No cookies: only the token says who asks.
      credentials: 'omit',
      cache: 'no-store',
      ...(body ? { body: body.value } : {}),
    },
  ];
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
