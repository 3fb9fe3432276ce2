/**
 * The parts of undici that we use, in a separate module: it is loaded with the first request to a hosted platform, not
 * before.
 */
export { Agent, Client } from 'undici';
