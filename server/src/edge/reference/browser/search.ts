/** Finds endpoints and chapters by the words of their title, path, description and fields, in the list of contents. */

export function openSearch(page: Document): void {
  const field = page.querySelector<HTMLInputElement>('#search');
  const contents = page.querySelector<HTMLElement>('.contents');
  const none = page.querySelector<HTMLElement>('#nothing-found');
  if (!field || !contents || !none) return;
  field.closest('[hidden]')?.removeAttribute('hidden');

  const filter = () => {
    const words = wordsOf(field.value);
    let found = 0;
    for (const group of contents.querySelectorAll<HTMLElement>('.contents-group')) {
      let shown = 0;
      for (const entry of group.querySelectorAll<HTMLElement>('li')) {
        const text = `${entry.textContent} ${entry.dataset.words} ${group.dataset.name}`.toLowerCase();
        entry.hidden = !words.every((word) => text.includes(word));
        if (!entry.hidden) shown += 1;
      }
      group.hidden = shown === 0;
      // While a search is on, every group shows what was found in it.
      group.classList.toggle('unfolded', words.length > 0);
      found += shown;
    }
    none.hidden = found > 0;
  };
  field.oninput = filter;
  field.onkeydown = (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const found = [...contents.querySelectorAll<HTMLElement>('.contents-group:not([hidden]) li:not([hidden]) a')];
    // A title says more than a description in which the words happen to stand.
    const isTitle = ({ textContent }: HTMLElement) => {
      const title = textContent?.toLowerCase() ?? '';
      return wordsOf(field.value).every((word) => title.includes(word));
    };
    (found.find(isTitle) ?? found[0])?.click();
  };
  page.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select');
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}

const wordsOf = (text: string) => text.toLowerCase().split(/\s+/).filter(Boolean);
