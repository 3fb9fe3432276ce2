/** The pages of a sign-in. They contain no state, code or token, and load only our own style and script. */
import type { OAuthFlowRow } from '../../kernel/db/tables.ts';
import { type Html, html } from '../../kernel/html.ts';
import { type PageWords, wordsFor } from './page-words.ts';

/** What all pages need: the language of the browser, and how many folders deep the page is. */
export interface Reader {
  acceptLanguage: string | undefined;
  /** From the page to the root of the service, as `../..`. */
  root: string;
}

function frame(
  { acceptLanguage, root }: Reader,
  title: (words: PageWords) => string,
  body: (words: PageWords) => Html,
) {
  const { language, words } = wordsFor(acceptLanguage);
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title(words)}</title>
<link rel="icon" href="${root}/docs/icon.svg">
<link rel="stylesheet" href="${root}/docs/style.css">
<script type="module" src="${root}/oauth/page.js"></script>
</head>
<body class="notice">
<main>
<h1>${title(words)}</h1>
${body(words)}
</main>
</body>
</html>
`;
}

export interface AskingPage {
  provider: string;
  /** Whose page it is; undefined where nobody has said it. */
  product: string | undefined;
  customer: string | null;
  scopes: readonly string[];
  /** What only this page can know; it comes back with the click. */
  proof: string;
}

const list = (items: readonly string[]) => html`<ul>${items.map((item) => html`<li><code>${item}</code></li>`)}</ul>`;

/** The button works once the page was visible for a second: see pageScript. */
export const askingPage = (reader: Reader, { provider, product, customer, scopes, proof }: AskingPage) =>
  frame(
    reader,
    (words) => words.askTitle(provider),
    (words) => html`<p>${product === undefined ? words.somebodyAsks(provider) : words.asks(product, provider)}</p>
<p>${customer === null ? words.forApplication : words.forCustomer(customer)}</p>
${scopes.length === 0 ? [] : html`<p>${words.scopes}</p>${list(scopes)}`}
<p>${words.careful}</p>
<form method="post">
<input type="hidden" name="proof" value="${proof}">
<button class="main" disabled data-after-a-second>${words.continueTo(provider)}</button>
</form>
<noscript><p>${words.needsScript}</p></noscript>`,
  );

/**
 * On the way to the provider. A redirect in answer to the form would have to stay among the origins that the page names in
 * `form-action`, and many providers send customers on to another host.
 */
export const goingPage = (reader: Reader, { provider, address }: { provider: string; address: string }) =>
  frame(
    reader,
    (words) => words.going,
    (words) => html`<p><a href="${address}" rel="noreferrer" data-next>${words.continueTo(provider)}</a></p>`,
  );

export const overPage = (reader: Reader) =>
  frame(
    reader,
    (words) => words.overTitle,
    (words) => html`<p>${words.over}</p>`,
  );

export const impossiblePage = (reader: Reader) =>
  frame(
    reader,
    (words) => words.failedTitle,
    (words) => html`<p>${words.failures.not_possible}</p>`,
  );

export interface DonePage {
  flow: OAuthFlowRow;
  isExpired: boolean;
  previousAccount: string | null;
  /** For a link, which has no widget that asks. */
  proof: string | undefined;
  /** The name of a template that asks for more than a sign-in, where the customer has yet to make the source. */
  unfinished: string | undefined;
}

export function donePage(reader: Reader, { flow, isExpired, previousAccount, proof, unfinished }: DonePage): Html {
  const { account_label: account } = flow;
  if (flow.state === 'connected') {
    return frame(
      reader,
      (words) => words.connectedTitle,
      (words) => html`${account === null ? [] : html`<p>${words.connectedAs(account)}</p>`}
${unfinished === undefined ? [] : html`<p>${words.oneStepLeft(unfinished)}</p>`}
<p${flow.token_id === null ? [] : html` data-close`}>${words.close}</p>`,
    );
  }
  if (flow.state === 'unconfirmed' && !isExpired) {
    const known = account !== null && previousAccount !== null;
    return frame(
      reader,
      (words) => words.otherTitle,
      (words) => html`<p>${known ? words.other(account, previousAccount) : words.unknownOther}</p>
${
  proof === undefined
    ? html`<p data-close>${words.confirmThere}</p>`
    : html`<form method="post"><input type="hidden" name="proof" value="${proof}">
<button class="main" disabled data-after-a-second>${words.confirm}</button></form>`
}`,
    );
  }
  if (flow.state === 'failed' || isExpired) {
    const failure = flow.failure ?? 'expired';
    const missing: string[] = JSON.parse(flow.missing_scopes);
    return frame(
      reader,
      (words) => words.failedTitle,
      (words) => html`<p>${words.failures[isExpired ? 'expired' : failure]}</p>
${missing.length === 0 ? [] : list(missing)}
<p data-close>${words.goBack}</p>`,
    );
  }
  return frame(
    reader,
    (words) => words.waitingTitle,
    (words) => html`<p data-look-again>${words.waiting}</p>`,
  );
}

/**
 * The script of the pages of a sign-in, as it is sent. It has no secrets and asks nobody anything.
 *
 * A button works only after its page was visible, and its window in front, for a second: a page of someone else could open
 * this one just where the customer is about to click.
 */
export const pageScript = `const button = document.querySelector('button[data-after-a-second]');
if (button) {
  let timer;
  const wait = () => {
    clearTimeout(timer);
    button.disabled = true;
    if (document.visibilityState === 'visible') timer = setTimeout(() => { button.disabled = false; }, 1000);
  };
  document.addEventListener('visibilitychange', wait);
  window.addEventListener('focus', wait);
  window.addEventListener('pageshow', wait);
  wait();
}
const next = document.querySelector('a[data-next]');
if (next) location.replace(next.href);
if (document.querySelector('[data-look-again]')) setTimeout(() => location.reload(), 1000);
// Only windows that a script has opened can be closed so; others stay.
if (document.querySelector('[data-close]')) setTimeout(() => window.close(), 1500);
`;
