// The page of a product that embeds Inlay. The script before this one defines `Inlay`. The first part is the embedding, the
// rest is the page itself.

/** Requests a token from our backend, which holds the operator token. The library calls this again when a token expires. */
async function getToken() {
  const { customer, plan, theme, locale } = choices();
  const response = await fetch('api/widget-token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ customer, plan, theme, locale: locale || undefined }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer.token;
}

/** Opens the widget in a dialog above the page. */
function openDialog() {
  Inlay.open({ getToken, locale: choices().locale || undefined, onEvent: show });
}

// Returning from a sign-in on the whole page: the library reads the rest from the URL.
if (new URLSearchParams(location.search).has('inlay_sign_in')) addEventListener('DOMContentLoaded', openDialog);

/** The inline widget, if shown. @type {{ close(): void, destroy(): void } | undefined} */
let inline;

function showInPage() {
  inline?.destroy();
  inline = Inlay.mount(element('place'), {
    getToken,
    locale: choices().locale || undefined,
    onEvent(event) {
      show(event);
      if (event.type === 'closed') leavePage();
    },
  });
  element('place-empty').hidden = true;
  element('unmount').hidden = false;
}

function leavePage() {
  inline = undefined;
  element('place-empty').hidden = false;
  element('unmount').hidden = true;
  element('mount').focus();
}

element('open').addEventListener('click', openDialog);
element('mount').addEventListener('click', () => {
  showInPage();
  element('place').parentElement.scrollIntoView({ block: 'nearest' });
});
element('unmount').addEventListener('click', () => inline?.close());
element('choices').addEventListener('change', () => {
  dress();
  if (inline) showInPage();
});
element('choices').addEventListener('submit', (event) => event.preventDefault());
element('clear').addEventListener('click', () => {
  element('events').replaceChildren();
  showWhetherEmpty();
  element('open').focus();
});

const maxEvents = 12;

const planHints = {
  free: 'Sample shops and files.',
  pro: 'Everything, including databases and APIs.',
};

/** The chosen customer, plan, theme and language. @returns {Record<string, string>} */
function choices() {
  return Object.fromEntries(new FormData(element('choices')));
}

/** Applies the chosen theme. */
function dress() {
  const { plan, theme } = choices();
  const name = element('customer').selectedOptions[0].text;
  document.documentElement.dataset.theme = theme;
  element('account-initial').textContent = name[0];
  element('account-name').textContent = name;
  element('account-plan').textContent = plan === 'pro' ? 'Pro' : 'Free';
  element('plan-hint').textContent = planHints[plan];
}

/** Adds an event to the list, newest first. */
function show(event) {
  const item = document.createElement('li');
  const head = document.createElement('p');
  const type = document.createElement('strong');
  type.textContent = event.type;
  const time = document.createElement('time');
  time.textContent = new Date().toLocaleTimeString();
  head.append(type, time);
  item.append(head);
  item.dataset.type = event.type;
  const { type: _, ...details } = event;
  const lines = Object.values(details).flatMap((fields) => Object.entries(fields));
  if (lines.length > 0) {
    const list = document.createElement('dl');
    for (const [name, value] of lines) {
      const term = document.createElement('dt');
      term.textContent = name;
      const description = document.createElement('dd');
      description.textContent = String(value);
      list.append(term, description);
    }
    item.append(list);
  }
  element('events').prepend(item);
  element('events').children[maxEvents]?.remove();
  showWhetherEmpty();
}

function showWhetherEmpty() {
  const isEmpty = element('events').childElementCount === 0;
  element('events-empty').hidden = !isEmpty;
  element('clear').hidden = isEmpty;
}

/** @param {string} id @returns {any} */
function element(id) {
  return document.getElementById(id);
}

dress();
