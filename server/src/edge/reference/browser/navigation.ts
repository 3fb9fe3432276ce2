/**
 * Follows links between the pages without loading a new document, so that what the script holds in memory stays there.
 * The header and the list of contents are the same on every page: only `main` is replaced.
 */

export function followLinks(onArrival: () => void): void {
  // Relative addresses would lead elsewhere once the address of the page changes.
  for (const link of document.querySelectorAll<HTMLAnchorElement | HTMLLinkElement>('a[data-page], link[rel="icon"]'))
    link.setAttribute('href', link.href);
  let shown = location.pathname;

  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[data-page]') : null;
    if (!link || (link.pathname === shown && link.hash)) return;
    event.preventDefault();
    void open(link.href, () => history.pushState(null, '', link.href));
  });
  addEventListener('popstate', () => {
    if (location.pathname !== shown) void open(location.href);
  });

  async function open(address: string, arrive = () => {}): Promise<void> {
    const page = await load(address);
    const main = page?.querySelector('main');
    if (!page || !main) {
      location.assign(address);
      return;
    }
    arrive();
    shown = location.pathname;
    document.title = page.title;
    document.querySelector('main')?.replaceWith(main);
    for (const group of document.querySelectorAll('.contents-group'))
      group.classList.toggle('current', group.querySelector('a')?.pathname === shown);
    onArrival();
    const target = document.getElementById(location.hash.slice(1));
    if (target) target.scrollIntoView();
    else scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
}

async function load(address: string): Promise<Document | undefined> {
  try {
    const answer = await fetch(address);
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : undefined;
  } catch {
    return undefined;
  }
}
