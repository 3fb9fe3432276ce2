/** What is used of undici, in a module of its own: it is loaded with the first request to a hosted platform, not before. */
export { Agent, Client } from 'undici';
