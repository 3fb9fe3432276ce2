/** How a page is built: the widget and the console alike. */
import { join } from 'node:path';
import type { BuildEnvironmentOptions, Plugin, UserConfig } from 'vite';

/**
 * Vite puts a helper around every import() that loads what the part needs ahead. Our parts need nothing but the first one,
 * which is there, and its styles: without the helper each reader loads half a kilobyte less.
 */
const withoutPreloads: Plugin = {
  name: 'without-preloads',
  enforce: 'pre',
  load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load();' : undefined),
};

export const pageConfig = (root: string, more: BuildEnvironmentOptions = {}): UserConfig => ({
  plugins: [withoutPreloads],
  root,
  // Addresses in the bundle are relative: the service may live below a path.
  base: './',
  publicDir: false,
  // Set here because a test may also run the build: the files must not depend on NODE_ENV or name paths of this
  // machine.
  esbuild: { jsx: 'automatic', jsxDev: false, jsxImportSource: 'preact', legalComments: 'none' },
  resolve: { dedupe: ['preact'] },
  build: {
    manifest: 'manifest.json',
    target: 'es2022',
    cssCodeSplit: false,
    modulePreload: false,
    rollupOptions: { input: join(root, 'src/main.tsx') },
    ...more,
  },
});
