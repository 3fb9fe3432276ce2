/** Takes the code of a one-time link, `…/sign-in#code=…`, and removes it from the URL. */
export function takeLinkCode(
  location: Pick<Location, 'hash' | 'pathname' | 'search'>,
  history: Pick<History, 'replaceState'>,
): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code === null) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return code === '' ? undefined : code;
}
