/**
 * The script of the pages of a sign-in, as it is sent. It has no secrets and asks nobody anything.
 *
 * A button works only after its page was visible, and its window in front, for a second: a page of somebody else could open
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
