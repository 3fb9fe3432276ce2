/** The public suffix list. It is large, so it is loaded when an address needs it. */
export { getDomain } from 'tldts';
