/**
 * Follows links between the pages of the reference without leaving the page, so that what is in memory stays there. The
 * list of contents is on every page: only the mark of the current entry changes.
 */

export function followLinks(onArrival: () => void): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[data-page]') : null;
    if (!link || isHere(link)) return;
    event.preventDefault();
    void go(link.href, () => history.pushState(null, '', link.href), onArrival);
  });
  // The page's address changes while the icon stays, so a relative address of the icon would become wrong.
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  icon?.setAttribute('href', icon.href);
  let shown = pathOf(location);
  addEventListener('popstate', () => {
    if (pathOf(location) !== shown) void go(location.href, () => {}, onArrival);
  });
  openOldAnchor(onArrival);

  async function go(address: string, arrive: () => void, told: () => void): Promise<void> {
    const page = await load(address);
    const main = page?.querySelector('main');
    if (!page || !main) {
      location.assign(address);
      return;
    }
    arrive();
    shown = pathOf(location);
    document.title = page.title;
    document.body.dataset.root = page.body.dataset.root ?? '';
    document.querySelector('main')?.replaceWith(main);
    markCurrent(page);
    foldContents();
    told();
    const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
    if (target) target.scrollIntoView();
    else scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }

  /** Before there was a page for each group, `/docs#anchor` led to an endpoint. */
  function openOldAnchor(told: () => void): void {
    const anchor = location.hash.slice(1);
    if (!anchor || document.getElementById(anchor)) return;
    const links = document.querySelectorAll<HTMLAnchorElement>('.contents a[data-page]');
    const link = [...links].find(({ hash }) => hash === `#${anchor}`);
    if (link) void go(link.href, () => history.replaceState(null, '', link.href), told);
  }
}

async function load(address: string): Promise<Document | undefined> {
  try {
    const answer = await fetch(address);
    if (!answer.ok) return undefined;
    return new DOMParser().parseFromString(await answer.text(), 'text/html');
  } catch {
    return undefined;
  }
}

/**
 * Links are relative to the page they came with, so the links of the new page replace the old ones, with their marks.
 */
function markCurrent(page: Document): void {
  const icon = page.querySelector('link[rel=icon]')?.getAttribute('href');
  document.querySelector('link[rel=icon]')?.setAttribute('href', icon ?? '');
  document.querySelector('.brand a')?.setAttribute('href', page.querySelector('.brand a')?.getAttribute('href') ?? '');
  const current = document.querySelectorAll<HTMLElement>('.contents-group');
  page.querySelectorAll<HTMLElement>('.contents-group').forEach((group, index) => {
    const mine = current[index];
    if (!mine) return;
    mine.classList.toggle('current', group.classList.contains('current'));
    const links = mine.querySelectorAll('a');
    group.querySelectorAll('a').forEach((link, at) => {
      links[at]?.setAttribute('href', link.getAttribute('href') ?? '');
    });
  });
}

/** In a narrow window the contents are above the page. The reader has chosen a page, so the contents are closed. */
function foldContents(): void {
  const summary = document.querySelector<HTMLElement>('.contents summary');
  if (summary?.offsetParent) summary.closest('details')?.removeAttribute('open');
}

const pathOf = ({ pathname }: { pathname: string }) => pathname;
const isHere = (link: HTMLAnchorElement) => link.pathname === location.pathname;
