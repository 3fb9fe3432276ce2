/** The library as one script for pages without a bundler. Its exports are the global `Inlay`. */
import { mount, open } from './inlay-embed.ts';

Object.assign(globalThis, { Inlay: { open, mount } });
