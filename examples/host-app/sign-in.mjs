// Signs a demo customer in with the test provider (examples/test-provider), following the same pages as a person, without a
// browser. Real customers use the widget or open the link.

/** @param {string} link @param {{ account: string, signal?: AbortSignal }} options `account`: who signs in */
export async function signInByLink(link, { account, signal }) {
  /** @param {string} address @param {RequestInit} [init] */
  async function visit(address, init = {}) {
    const timeout = AbortSignal.timeout(30_000);
    const ends = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const response = await fetch(address, { ...init, redirect: 'manual', signal: ends });
    if (response.status >= 400) throw new Error(`A page of a sign-in answered ${response.status}.`);
    return response;
  }
  /** @param {RegExp} sought @param {string} text @param {string} what */
  function found(sought, text, what) {
    const [, value] = sought.exec(text) ?? [];
    if (value === undefined) throw new Error(`A page of a sign-in has no ${what}.`);
    return value;
  }

  // The service's page asks for consent; a cookie and a proof bind the answer to this browser.
  const asking = await visit(link);
  const cookie = asking.headers.getSetCookie().map((one) => one.split(';')[0]);
  const headers = { cookie: cookie.join('; ') };
  const proof = found(/name="proof" value="([^"]+)"/, await asking.text(), 'proof');
  const going = await visit(link, { method: 'POST', headers, body: new URLSearchParams({ proof }) });
  const next = found(/href="([^"]+)" rel="noreferrer" data-next/, await going.text(), 'address of the provider');

  // The provider's page: grant everything.
  const authorize = new URL(next.replaceAll('&#38;', '&'));
  const form = new URLSearchParams(authorize.searchParams);
  for (const scope of (form.get('scope') ?? '').split(' ')) form.append('granted', scope);
  form.set('account', account);
  const decided = await visit(`${authorize.origin}${authorize.pathname}`, { method: 'POST', body: form });
  await visit(decided.headers.get('location') ?? '', { headers });
}
