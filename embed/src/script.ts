/** The library as one script, for pages without a bundler: what it exports is the global `Inlay`. */
import { mount, open } from './inlay-embed.ts';

Object.assign(globalThis, { Inlay: { open, mount } });
